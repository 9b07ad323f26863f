// |A and B| / |A or B| of the second of two classes (fastai.metrics.JaccardCoeff).
#include "metrics/classes/class_scores.h"
#include "metrics/metric.h"

namespace ddptrain {
namespace {

double jaccard_coeff(const std::vector<double>& pairs) {
  const auto c = second_of_two(pairs, "jaccard_coeff");
  return c.hits / (c.actual + c.predicted - c.hits);
}

}  // namespace

Entry<Metric> jaccard_coeff_metric() {
  return pair_metric_entry(
      "jaccard_coeff", "Hits over the union of predicted and true units of class 1, of two.",
      jaccard_coeff, {"larger_is_better", "at_most_1", "takes_class", "takes_mask", "two_classes"});
}

}  // namespace ddptrain
