// mae, mse, msle, rmse. Means of errors of numbers.
#include <cmath>

#include "metrics/metric.h"
#include "metrics/regression/regression.h"

namespace ddptrain {

/// The mean absolute error (fastai.metrics.mae).
Entry<Metric> mae_metric() {
  return mean_metric_entry(
      "mae", "The mean absolute error.",
      {[](const at::Tensor& p, const at::Tensor& y) { return p.sub(y).abs(); }},
      {"smaller_is_better", "takes_number", "takes_points"});
}

/// The mean squared error (fastai.metrics.mse).
Entry<Metric> mse_metric() {
  return mean_metric_entry(
      "mse", "The mean squared error.",
      {[](const at::Tensor& p, const at::Tensor& y) { return p.sub(y).square(); }},
      {"smaller_is_better", "takes_number", "takes_points"});
}

/// The mean squared logarithmic error (fastai.metrics.msle).
Entry<Metric> msle_metric() {
  return mean_metric_entry(
      "msle", "The mean squared error of log(1 + value).",
      {[](const at::Tensor& p, const at::Tensor& y) { return p.log1p().sub(y.log1p()).square(); }},
      {"smaller_is_better", "takes_number"});
}

/// The root of the mean squared error over the whole split (fastai.metrics.rmse).
Entry<Metric> rmse_metric() {
  return mean_metric_entry(
      "rmse", "The root of the mean squared error.",
      {[](const at::Tensor& p, const at::Tensor& y) { return p.sub(y).square(); },
       [](double mean) { return std::sqrt(mean); }},
      {"smaller_is_better", "takes_number", "takes_points"});
}

}  // namespace ddptrain
