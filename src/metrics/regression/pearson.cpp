// Pearson's correlation (scipy.stats.pearsonr, fastai.metrics.PearsonCorrCoef); NaN where a column
// is constant.
#include <algorithm>
#include <cmath>

#include "metrics/metric.h"
#include "metrics/regression/regression.h"

namespace ddptrain {
namespace {

double pearson(const Moments& m) {
  return std::clamp(m.xy / (std::sqrt(m.xx) * std::sqrt(m.yy)), -1.0, 1.0);
}

}  // namespace

Entry<Metric> pearson_metric() {
  return entry<Metric, NoOptions>("pearson",
                                  "The linear correlation of predictions and targets, -1 to 1.",
                                  [](const NoOptions&, const MetricContext&) {
                                    return make_moment_metric("pearson", {prediction, pearson});
                                  },
                                  {"larger_is_better", "at_most_1", "takes_number"});
}

}  // namespace ddptrain
