// Matthews' correlation coefficient of any number of classes (sklearn.metrics.matthews_corrcoef).
#include <cmath>

#include "metrics/classes/class_scores.h"
#include "metrics/metric.h"

namespace ddptrain {
namespace {

double mcc(const std::vector<double>& pairs) {
  double all = 0;
  double hits = 0;
  double both = 0;
  double predicted = 0;
  double actual = 0;
  for (const auto& c : class_counts(pairs)) {
    all += c.actual;
    hits += c.hits;
    both += c.actual * c.predicted;
    predicted += c.predicted * c.predicted;
    actual += c.actual * c.actual;
  }
  return share(hits * all - both, std::sqrt((all * all - predicted) * (all * all - actual)));
}

}  // namespace

Entry<Metric> mcc_metric() {
  return pair_metric_entry("mcc", "Matthews' correlation of predicted and true classes, -1 to 1.",
                           mcc, {"larger_is_better", "at_most_1", "takes_class", "takes_mask"});
}

}  // namespace ddptrain
