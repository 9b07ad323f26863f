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
  return moment_metric_entry("pearson",
                             "The linear correlation of predictions and targets, -1 to 1.",
                             {prediction, pearson});
}

}  // namespace ddptrain
