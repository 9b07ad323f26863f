// The correlation of ranks, equal values sharing the mean of theirs (scipy.stats.spearmanr,
// fastai.metrics.SpearmanCorrCoef).
#include <ATen/ops/stack.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "metrics/metric.h"
#include "metrics/regression/regression.h"

namespace ddptrain {
namespace {

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    while (last < order.size() && values[order[last]] == values[order[first]]) ++last;
    for (auto i = first; i < last; ++i) ranks[order[i]] = static_cast<double>(first + last + 1) / 2;
  }
  return ranks;
}

double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const double mean = (static_cast<double>(x.size()) + 1) / 2;
  double xx = 0;
  double yy = 0;
  double xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
    xy += (x[i] - mean) * (y[i] - mean);
  }
  return xy / std::sqrt(xx * yy);
}

class Spearman final : public Metric {
 public:
  /// Predictions and targets, interleaved.
  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    const auto [predicted, actual] = flat_columns(output, target);
    return at::stack({predicted, actual}, 1).view({-1});
  }
  void add(Terms& total, const Terms& batch) const override {
    total.insert(total.end(), batch.begin(), batch.end());
  }
  Values values(const Terms& total) const override {
    std::vector<double> x;
    std::vector<double> y;
    for (std::size_t i = 0; i + 1 < total.size(); i += 2) {
      if (std::isnan(total[i + 1])) continue;  // a missing target
      x.push_back(total[i]);
      y.push_back(total[i + 1]);
    }
    const bool known = std::none_of(x.begin(), x.end(), [](double v) { return std::isnan(v); });
    return {{"spearman",
             known ? correlation(ranks(x), ranks(y)) : std::numeric_limits<double>::quiet_NaN()}};
  }
};

}  // namespace

Entry<Metric> spearman_metric() {
  return entry_of<Metric, Spearman>(
      "spearman", "The correlation of the ranks of predictions and targets, -1 to 1.",
      {"larger_is_better", "at_most_1", "takes_number"});
}

}  // namespace ddptrain
