// 2 |A and B| / (|A| + |B|) of the second of two classes (fastai.metrics.Dice).
#include "metrics/classes/class_scores.h"
#include "metrics/metric.h"

namespace ddptrain {
namespace {

double dice(const std::vector<double>& pairs) {
  const auto c = second_of_two(pairs, "dice");
  return 2 * c.hits / (c.actual + c.predicted);
}

}  // namespace

Entry<Metric> dice_metric() {
  return pair_metric_entry(
      "dice", "Twice the hits over predicted and true units of class 1, of two.", dice,
      {"larger_is_better", "at_most_1", "takes_class", "takes_mask", "two_classes"});
}

}  // namespace ddptrain
