// 1 - Var(error) / Var(target) (sklearn.metrics.explained_variance_score).
#include "metrics/metric.h"
#include "metrics/regression/regression.h"

namespace ddptrain {
namespace {

double explained_variance(const Moments& m) { return explained_share(m.xx, m.yy); }

}  // namespace

Entry<Metric> explained_variance_metric() {
  return moment_metric_entry(
      "explained_variance",
      "The share of the variance that predictions explain, whatever their mean error.",
      {residual, explained_variance});
}

}  // namespace ddptrain
