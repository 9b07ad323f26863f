// The root of the mean squared error over the whole split (fastai.metrics.rmse).
#include <cmath>

#include "metrics/catalog.h"
#include "metrics/regression/regression.h"

namespace ddptrain {

Entry<Metric> rmse_metric() {
  return entry<Metric, NoOptions>(
      "rmse", "The root of the mean squared error.",
      [](const NoOptions&, const MetricContext&) {
        return make_mean_metric(
            "rmse", {[](const at::Tensor& p, const at::Tensor& y) { return p.sub(y).square(); },
                     [](double mean) { return std::sqrt(mean); }});
      },
      {"smaller_is_better", "takes_number"});
}

}  // namespace ddptrain
