// The mean squared error (fastai.metrics.mse).
#include "metrics/catalog.h"
#include "metrics/regression/regression.h"

namespace ddptrain {

Entry<Metric> mse_metric() {
  return entry<Metric, NoOptions>(
      "mse", "The mean squared error.",
      [](const NoOptions&, const MetricContext&) {
        return make_mean_metric(
            "mse", {[](const at::Tensor& p, const at::Tensor& y) { return p.sub(y).square(); }});
      },
      {"smaller_is_better", "takes_number"});
}

}  // namespace ddptrain
