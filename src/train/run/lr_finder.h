// A run that only asks which learning rate would suit it: nothing is evaluated, saved or written.
#pragma once

#include "optim/lr_finder.h"
#include "recipe/recipe.h"
#include "train/loop/loop.h"

namespace ddptrain {

struct LrFindResult {
  LrCurve curve;               // losses smoothed
  std::vector<double> losses;  // as they were
  std::string reason;          // why it ended: "done", "stopped: ...", "interrupted"
  int signal = 0;
};

/// The recipe as the finder runs it: what trains is what its first stage trains, its length is the
/// finder's, and callbacks and averages are left out. An Error (Exit::recipe) where the options
/// make no sense.
Recipe lr_find_recipe(Recipe recipe, const LrFindOptions& options);

/// Trains a Training that was built for the finder (TrainingPlan::lr_finder); the same losses as
/// training in every mode. All ranks call it together; its weights are spent afterwards.
LrFindResult find_lr(Training& training, const LrFindOptions& options, Hooks hooks);

}  // namespace ddptrain
