// Metrics of numbers predicted for numbers, over all elements alike. A target that is not a number
// is a missing one, and counts nowhere.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "metrics/metric.h"

namespace ddptrain {

/// The mean of a function of every prediction and target, then a function of that mean.
struct MeanFormula {
  at::Tensor (*element)(const at::Tensor& predicted, const at::Tensor& actual);
  double (*of_mean)(double mean) = nullptr;  // null: the mean itself
};
Entry<Metric> mean_metric_entry(const std::string& name, std::string doc, MeanFormula formula,
                                std::vector<std::string> traits);

/// Count, means and sums of squared distances from the means, of two columns.
struct Moments {
  double count = 0;
  double mean_x = 0;
  double mean_y = 0;
  double xx = 0;
  double yy = 0;
  double xy = 0;
};

/// x of every prediction and target (y is the target), then a number of the moments of both; NaN
/// without any element. Sums of squares are exactly 0 where the deviation of a column is at most
/// 1e-13 of its mean, and so is `xy` then. Batches are merged as Chan, Golub and LeVeque (1979) do,
/// in their order.
struct MomentFormula {
  at::Tensor (*x)(const at::Tensor& predicted, const at::Tensor& actual);
  double (*of_moments)(const Moments& moments);
};
Entry<Metric> moment_metric_entry(const std::string& name, std::string doc, MomentFormula formula);

at::Tensor prediction(const at::Tensor& predicted, const at::Tensor& actual);
at::Tensor residual(const at::Tensor& predicted, const at::Tensor& actual);

/// 1 - rest / variance; where nothing varies 1 for no rest and else 0 (force_finite of
/// scikit-learn).
double explained_share(double rest, double variance);

/// Both columns as double and flat; an Error where shapes do not fit.
std::pair<at::Tensor, at::Tensor> flat_columns(const at::Tensor& output, const at::Tensor& target);

}  // namespace ddptrain
