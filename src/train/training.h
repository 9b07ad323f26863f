// Everything that a run is made of, built and ready.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "callbacks/best.h"
#include "callbacks/callback.h"
#include "data/dataset.h"
#include "data/loader/loader.h"
#include "data/mix.h"
#include "data/sampler.h"
#include "distributed/engine.h"
#include "distributed/world.h"
#include "losses/loss.h"
#include "metrics/metric.h"
#include "optim/clip.h"
#include "optim/ema.h"
#include "optim/loss_scale.h"
#include "optim/optimizer.h"
#include "recipe/data_section.h"
#include "recipe/period.h"
#include "recipe/recipe.h"
#include "schedules/rate_plan.h"
#include "train/placement.h"

namespace ddptrain {

/// Where a run stands. A checkpoint holds it; a resumed run goes on from it.
struct Position {
  std::int64_t step = 0;           // optimiser steps made
  std::int64_t epoch = 0;          // epochs completed
  std::int64_t step_in_epoch = 0;  // steps made of the epoch under way
  std::int64_t bad_in_epoch = 0;   // samples left out of it so far, over all ranks
  std::int64_t samples = 0;        // samples seen by all ranks
  std::int64_t evaluated = 0;      // steps made at the last evaluation
  bool evaluation_due = false;     // and not finished: a resumed run begins with it
  std::int64_t empty_steps = 0;    // without a counted sample: nothing changed
  std::int64_t skipped_steps = 0;  // not finite: nothing changed
  double train_loss = 0;           // of the last step, for the row of an evaluation after it
  double lr = 0;
  double seconds = 0;  // trained, where train.duration is a time
};

/// A part of the run with a schedule of its own, and what it trains (train/stages.h).
struct TrainingStage : RateStage {
  std::vector<double> shares;  // of the schedule's rate, by layer group; empty: all of it
  Frozen frozen;
  bool resets_optimizer = false;
};

struct Training {
  Recipe recipe;  // resolved: no `auto` is left that the machine decides
  Placement placement;
  World* world = nullptr;
  DataSection section;
  std::unique_ptr<Dataset> data;
  std::unique_ptr<Sampler> sampler;
  std::unique_ptr<Mix> mix;  // of training samples; may be null
  std::unique_ptr<Loader> loader;
  std::unique_ptr<Loader> valid_loader;
  std::unique_ptr<Loss> loss;
  std::vector<std::unique_ptr<Metric>> metrics;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Optimizer> optimizer;
  std::vector<TrainingStage> stages;
  std::int64_t stage = -1;  // the one that the engine was last prepared for
  std::unique_ptr<Clip> clip;
  std::unique_ptr<Ema> ema;
  std::unique_ptr<LossScale> loss_scale;
  std::vector<std::unique_ptr<Callback>> callbacks;  // the recipe's, whose state is kept
  std::vector<std::unique_ptr<Callback>> writers;    // of logs, on rank 0
  RunLength length;
  Position position;
  RunControl control;
  std::optional<Best> best;  // of checkpoint.keep_best, where it is asked for
  std::int64_t best_step = 0;
  double nominal = 0;  // unit of the loss weights: the first step's total weight; 0 until then
  NamedValues last_evaluation;
  std::vector<NamedTable> last_tables;            // of an evaluation since this start
  std::optional<std::size_t> evaluation_batches;  // each rank's at most; none: all
};

}  // namespace ddptrain
