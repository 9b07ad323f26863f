// A run in stages: each with a length, a schedule and rates, and a part of the model that trains.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "config/choice.h"
#include "config/fields.h"
#include "recipe/optimizer_options.h"

namespace ddptrain {

struct Recipe;

/// What trains (fastai's words). Layer groups are the model's, from input to output.
struct FreezeSpec {
  std::int64_t freeze_to = 0;  // groups before this one are frozen; -1: all but the last
  bool train_bn = true;        // parameters of normalization layers train in frozen groups too
  bool bn_freeze = false;      // frozen batch norms keep and use their running statistics
  void fields(Fields& f);
};

/// What a stage does not say is the recipe's.
struct StageSpec {
  Duration duration = epochs(1);
  std::optional<Choice<Schedule>> schedule;
  std::optional<LearningRate> lr;
  bool reset_optimizer = false;  // its state is re-initialized
  FreezeSpec freeze;
  void fields(Fields& f);
};

/// fastai's Learner.fine_tune: the last layer group alone, then all, with a re-initialized
/// state of the optimizer.
struct FineTuneSpec {
  std::int64_t epochs = 1;
  std::int64_t freeze_epochs = 1;
  double base_lr = 2e-3;
  double lr_mult = 100;
  Share pct_start{0.3};
  double div = 5;
  static constexpr std::string_view shorthand = "epochs";
  void fields(Fields& f);
};

/// A stage with nothing left open.
struct Stage {
  Duration duration;
  Choice<Schedule> schedule;
  std::optional<LearningRate> lr;  // none: the optimizer's own
  bool reset_optimizer = false;
  FreezeSpec freeze;
};

/// The stages of a run, at least one: `train.stages`, those of `train.fine_tune`, or the whole run.
std::vector<Stage> stages_of(const Recipe& recipe);

/// How long a run lasts that is measured in seconds.
std::optional<double> seconds_of(const Recipe& recipe);

}  // namespace ddptrain
