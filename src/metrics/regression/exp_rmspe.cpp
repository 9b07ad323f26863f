// Root mean square percentage error of the exponentials (fastai.metrics.exp_rmspe).
#include <cmath>

#include "metrics/metric.h"
#include "metrics/regression/regression.h"

namespace ddptrain {

Entry<Metric> exp_rmspe_metric() {
  return mean_metric_entry("exp_rmspe", "The root mean square of the relative error of exp(value).",
                           {[](const at::Tensor& p, const at::Tensor& y) {
                              return p.sub(y).exp().neg().add(1).square();
                            },
                            [](double mean) { return std::sqrt(mean); }},
                           {"smaller_is_better", "takes_number"});
}

}  // namespace ddptrain
