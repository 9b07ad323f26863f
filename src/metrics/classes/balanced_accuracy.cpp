// The mean recall of the classes that occur (sklearn.metrics.balanced_accuracy_score).
#include "metrics/classes/class_scores.h"
#include "metrics/metric.h"

namespace ddptrain {
namespace {

double balanced_accuracy(const std::vector<double>& pairs) {
  double sum = 0;
  double occurring = 0;
  for (const auto& c : class_counts(pairs)) {
    if (c.actual == 0) continue;
    sum += c.hits / c.actual;
    ++occurring;
  }
  return sum / occurring;
}

}  // namespace

Entry<Metric> balanced_accuracy_metric() {
  return pair_metric_entry("balanced_accuracy", "The mean recall of the classes that occur.",
                           balanced_accuracy,
                           {"larger_is_better", "at_most_1", "takes_class", "takes_mask"});
}

}  // namespace ddptrain
