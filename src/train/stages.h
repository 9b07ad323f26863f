// The stages of a run: what trains when, and at which rates.
#pragma once

#include <cstdint>
#include <vector>

#include "models/layer_groups.h"
#include "optim/optimizer.h"
#include "schedules/rate_plan.h"

namespace ddptrain {

struct Recipe;
struct RunLength;
struct RunState;
struct Training;

/// A part of the run with a schedule of its own, and what it trains.
struct TrainingStage : RateStage {
  std::vector<double> shares;  // of the schedule's rate, by layer group; empty: all of it
  Frozen frozen;
  bool resets_optimizer = false;
};

/// What stages follow from.
struct StageSource {
  const Recipe& recipe;
  const RunLength& length;
  const Optimizer& optimizer;
  Model& model;
};

std::vector<TrainingStage> build_stages(const StageSource& source, const LayerGroups& groups);

/// The stage of the step about to be made, after one of stage `before` (none: -1). Where it is
/// another, freezes and thaws, and says what trains. All ranks call it before every step.
std::int64_t enter_stage(Training& training, std::int64_t step, std::int64_t before);

/// Whether the stage of that step begins with it.
bool begins_stage(const Training& training, std::int64_t step);

/// The rates of the step after `step` steps; of the one after those that were made.
Rates rates_of(const Training& training, const RunState& state, std::int64_t step);
Rates rates_of(const Training& training, const RunState& state);

}  // namespace ddptrain
