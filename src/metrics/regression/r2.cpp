// The coefficient of determination (sklearn.metrics.r2_score); NaN of fewer than two elements.
#include <limits>

#include "metrics/metric.h"
#include "metrics/regression/regression.h"

namespace ddptrain {
namespace {

double r2(const Moments& m) {
  if (m.count < 2) return std::numeric_limits<double>::quiet_NaN();
  return explained_share(m.xx + m.count * m.mean_x * m.mean_x, m.yy);
}

}  // namespace

Entry<Metric> r2_metric() {
  return moment_metric_entry("r2", "The share of the variance that predictions explain.",
                             {residual, r2});
}

}  // namespace ddptrain
