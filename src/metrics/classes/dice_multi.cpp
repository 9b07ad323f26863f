// Dice of each class, averaged over those that occur (fastai.metrics.DiceMulti).
#include "metrics/classes/class_scores.h"
#include "metrics/metric.h"

namespace ddptrain {
namespace {

double dice_multi(const std::vector<double>& pairs) {
  return mean_over_met(class_counts(pairs),
                       [](const ClassCounts& c) { return 2 * c.hits / (c.actual + c.predicted); });
}

}  // namespace

Entry<Metric> dice_multi_metric() {
  return pair_metric_entry(
      "dice_multi", "The mean over classes of twice the hits over predicted and true units.",
      dice_multi, {"larger_is_better", "at_most_1", "takes_class", "takes_mask"});
}

}  // namespace ddptrain
