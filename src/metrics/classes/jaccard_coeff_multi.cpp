// Intersection over union of each class, averaged over those that occur
// (fastai.metrics.JaccardCoeffMulti).
#include "metrics/classes/class_scores.h"
#include "metrics/metric.h"

namespace ddptrain {
namespace {

double jaccard_coeff_multi(const std::vector<double>& pairs) {
  return mean_over_met(class_counts(pairs), [](const ClassCounts& c) {
    return c.hits / (c.actual + c.predicted - c.hits);
  });
}

}  // namespace

Entry<Metric> jaccard_coeff_multi_metric() {
  return pair_metric_entry(
      "jaccard_coeff_multi",
      "The mean over classes of hits over the union of predicted and true units (mean IoU).",
      jaccard_coeff_multi, {"larger_is_better", "at_most_1", "takes_class", "takes_mask"});
}

}  // namespace ddptrain
