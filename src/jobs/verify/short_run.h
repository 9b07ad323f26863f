// A few steps of a run, or an evaluation of what they gave, as the child process that `verify`
// starts and as what its folder keeps.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "jobs/verify/step_gradients.h"
#include "recipe/recipe.h"

namespace ddptrain {

/// How a global batch is cut, and in which precision it is computed.
struct RunCut {
  Precision precision = Precision::fp64;
  Mode mode = Mode::none;
  std::int64_t devices = 1;
  std::int64_t accumulate = 1;
  auto operator<=>(const RunCut&) const = default;
};

/// "fp64"
std::string precision_name(Precision precision);

/// What all runs of a verification have in common.
struct ShortRunPlan {
  Recipe recipe;
  Node tree;
  std::int64_t global = 64;   // samples of an optimizer step
  std::int64_t threads = 1;   // of each rank: sums of another number of threads differ
  std::int64_t longest = 10;  // steps; of a run that is measured in time
};

/// The recipe cut so. All but the cut stays: model, data, optimizer, schedule, dropout, sync_bn.
Recipe cut_recipe(const ShortRunPlan& plan, const RunCut& cut);

/// Trains in the run folder `folder` until step `until`, from the beginning or a checkpoint, and
/// evaluates nothing. Returns the exit code. For a process of its own that has not touched
/// LibTorch.
struct ShortRun {
  std::string folder;
  std::string checkpoint;  // empty: none
  std::int64_t until = 1;
  bool keeps_gradients = false;  // of each step, for a run that is to follow it
  std::string follows = {};      // the folder of such a run, whose gradients it takes
  FollowersWeights weights = FollowersWeights::plain;  // of a run that follows
};
int train_short(const ShortRunPlan& plan, const RunCut& cut, const ShortRun& run,
                const Arguments& arguments);

/// Scores the validation split (and eval.splits) by the weights of a checkpoint, and writes
/// scores.txt and the tables into `folder`. As train_short.
int score_short(const ShortRunPlan& plan, const RunCut& cut, const ShortRun& run);

/// What rank 0 noted of a step: the values of all ranks together.
struct TracedStep {
  std::int64_t step = 0;
  double loss = 0;
  double gradient_norm = 0;
};
std::vector<TracedStep> traced_steps(const std::string& folder);

/// The newest checkpoint of the run in `folder`. An Error (Exit::bug) where there is none.
std::string checkpoint_in(const std::string& folder);

}  // namespace ddptrain
