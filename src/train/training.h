// What a run is made of, built and ready.
#pragma once

#include <optional>
#include <vector>

#include "recipe/data_section.h"
#include "recipe/period.h"
#include "recipe/recipe.h"
#include "train/part.h"
#include "train/placement.h"
#include "train/scored_split.h"

namespace ddptrain {

class Callback;
class Clip;
class Dataset;
class Ema;
class Engine;
class Loader;
class Loss;
class Metric;
class Mix;
class Optimizer;
class Sampler;
class StateStream;  // optim/state_stream.h
struct TrainingStage;
struct World;

/// The parts of a run. Which parts there are is settled once build() returns. The engine's model,
/// the optimizer, the average and the callbacks learn, and have states of their own for a
/// checkpoint; whatever else changes as the run goes on is RunState (train/run_state.h).
struct Training {
  Training();
  ~Training();
  Training(Training&&) noexcept;
  Training& operator=(Training&&) noexcept;

  Recipe recipe;  // resolved: no `auto` is left that the machine decides
  Placement placement;
  World* world = nullptr;
  DataSection section;
  std::unique_ptr<Dataset> data;
  std::unique_ptr<Sampler> sampler;
  std::unique_ptr<Mix> mix;  // of training samples; may be null
  std::unique_ptr<Loader> loader;
  std::unique_ptr<Loader> valid_loader;
  std::vector<ScoredSplit> splits;  // scored at each evaluation
  std::vector<ScoredSplit> test;    // at the end: one or none
  std::unique_ptr<Loss> loss;
  std::vector<std::unique_ptr<Metric>> metrics;
  Part<Engine> engine;
  std::unique_ptr<StateStream> state_stream;  // of the optimizer's state, if that is offloaded
  Part<Optimizer> optimizer;
  std::vector<TrainingStage> stages;
  std::unique_ptr<Clip> clip;                        // may be null
  Part<Ema> ema;                                     // may be null
  std::vector<std::unique_ptr<Callback>> callbacks;  // the recipe's
  RunLength length;
  std::optional<std::size_t> evaluation_batches;  // each rank's at most; none: all
};

/// Whether rows of a batch continue those of the batch before.
bool has_streams(const Training& training);

}  // namespace ddptrain
