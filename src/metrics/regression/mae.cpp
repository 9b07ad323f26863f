// The mean absolute error (fastai.metrics.mae).
#include "metrics/catalog.h"
#include "metrics/regression/regression.h"

namespace ddptrain {

Entry<Metric> mae_metric() {
  return entry<Metric, NoOptions>(
      "mae", "The mean absolute error.",
      [](const NoOptions&, const MetricContext&) {
        return make_mean_metric(
            "mae", {[](const at::Tensor& p, const at::Tensor& y) { return p.sub(y).abs(); }});
      },
      {"smaller_is_better", "takes_number"});
}

}  // namespace ddptrain
