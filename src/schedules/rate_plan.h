// The rates of a run, stage by stage, as arithmetic without torch: training steps at them, and
// `plan` draws them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "config/catalog.h"
#include "recipe/period.h"
#include "schedules/schedule.h"

namespace ddptrain {

struct Recipe;

/// The learning rate of the last layer group, the momentum and the weight decay of the step after
/// `step` others. No momentum or decay: the optimizer's own, if it has one.
struct RatesAt {
  std::int64_t step = 0;
  double lr = 0;
  std::optional<double> momentum{};
  std::optional<double> weight_decay{};
};

/// What an optimizer's options say: where schedules begin. No momentum: it has none, or 0.
struct OptimizerRates {
  double lr = 0;
  std::optional<double> momentum{};
  double weight_decay = 0;
};

/// Schedules of what is no rate; they go on over all stages.
struct RunSchedules {
  std::int64_t steps = 0;                            // of the run
  std::unique_ptr<Schedule> momentum, weight_decay;  // null: the recipe has none
  double own_decay = 0;                              // the optimizer's
};

/// A stage of a run and its schedule.
struct RateStage {
  std::int64_t first = 0;  // step at which it begins
  std::int64_t steps = 0;  // 0 in a run that is measured in seconds
  std::unique_ptr<Schedule> schedule;
  std::shared_ptr<const RunSchedules> run{};  // null where the recipe has none
  /// `step` counts from the run's beginning.
  RatesAt at(std::int64_t step, std::int64_t per_epoch) const;
};

/// The stage that a step belongs to. `stages` (RateStage or derived) are in order.
template <class Stages>
std::size_t stage_index(const Stages& stages, std::int64_t step) {
  std::size_t index = 0;
  while (index + 1 < stages.size() && step >= stages[index + 1].first) ++index;
  return index;
}

/// Steps that each stage of the run lasts; 0 in a run that is measured in seconds.
std::vector<std::int64_t> stage_steps(const Recipe& recipe, const RunLength& length);

struct RatePlan {
  std::vector<RateStage> stages;  // at least one
  std::int64_t per_epoch = 1;
  RatesAt at(std::int64_t step) const;
};

/// Each stage goes at its own rate, or at the optimizer's; all rates are multiplied by
/// length.global / optimizer.lr_batch, or its root, where the recipe names that batch. The end
/// of the run is held at train.swa.lr, where that is written.
RatePlan plan_rates(const Recipe& recipe, const RunLength& length, const OptimizerRates& optimizer);

/// Rates that grow from the first layers to the last (discriminative learning rates, Howard and
/// Ruder 2018): one for each of `groups` parameter groups, as fastai reads slice(first, last): a
/// geometric row from `first` to `last`; without `first`, last / 10 for all but the last group. For
/// one group `last`.
std::vector<double> spread_rates(std::optional<double> first, double last, std::int64_t groups);

/// What the optimizer of this recipe has, read from its options alone; of the innermost one.
OptimizerRates optimizer_rates(const Recipe& recipe, const Catalogs& catalogs);

/// At most `points` steps, evenly over the run, the first and the last among them. `length.total`
/// is the run's.
std::vector<RatesAt> rates_over_run(const Recipe& recipe, const RunLength& length,
                                    const Catalogs& catalogs, std::int64_t points);

}  // namespace ddptrain
