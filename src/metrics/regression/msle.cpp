// The mean squared logarithmic error (fastai.metrics.msle).
#include "metrics/catalog.h"
#include "metrics/regression/regression.h"

namespace ddptrain {

Entry<Metric> msle_metric() {
  return entry<Metric, NoOptions>("msle", "The mean squared error of log(1 + value).",
                                  [](const NoOptions&, const MetricContext&) {
                                    return make_mean_metric(
                                        "msle", {[](const at::Tensor& p, const at::Tensor& y) {
                                          return p.log1p().sub(y.log1p()).square();
                                        }});
                                  },
                                  {"smaller_is_better", "takes_number"});
}

}  // namespace ddptrain
