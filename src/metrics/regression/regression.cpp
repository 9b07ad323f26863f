#include "metrics/regression/regression.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "losses/rows.h"
#include "metrics/labels.h"

namespace ddptrain {
namespace {

class MeanMetric final : public Metric {
 public:
  MeanMetric(std::string name, MeanFormula formula) : name_(std::move(name)), formula_(formula) {}

  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    const auto [predicted, actual] = flat_columns(output, target);
    const auto missing = actual.isnan();
    const auto elements = formula_.element(predicted, actual).masked_fill(missing, 0);
    return together({elements.sum(), missing.logical_not().sum()});
  }
  Values values(const Terms& total) const override {
    const double mean = ratio(total);
    return {{name_, formula_.of_mean ? formula_.of_mean(mean) : mean}};
  }

 private:
  std::string name_;
  MeanFormula formula_;
};

Metric::Terms to_terms(const Moments& m) { return {m.count, m.mean_x, m.mean_y, m.xx, m.yy, m.xy}; }

Moments to_moments(const Metric::Terms& t) { return {t[0], t[1], t[2], t[3], t[4], t[5]}; }

Moments merged(const Moments& a, const Moments& b) {
  const double count = a.count + b.count;
  if (count == 0) return a;
  const double dx = b.mean_x - a.mean_x;
  const double dy = b.mean_y - a.mean_y;
  const double share = b.count / count;
  const double both = a.count * share;
  return {count,
          a.mean_x + dx * share,
          a.mean_y + dy * share,
          a.xx + b.xx + dx * dx * both,
          a.yy + b.yy + dy * dy * both,
          a.xy + b.xy + dx * dy * both};
}

/// Of equal values rounding leaves distances from their mean of a few units in the last place
/// (1e-16), in whichever order batches are merged; scipy.stats.pearsonr calls values that are
/// closer than this nearly constant.
constexpr double kLeastDeviation = 1e-13;

double beyond_rounding(double squares, double count, double mean) {
  return std::sqrt(squares / count) <= kLeastDeviation * std::abs(mean) ? 0 : squares;
}

/// Of a column that does not vary but for rounding, exactly nothing.
Moments without_rounding(Moments m) {
  m.xx = beyond_rounding(m.xx, m.count, m.mean_x);
  m.yy = beyond_rounding(m.yy, m.count, m.mean_y);
  if (m.xx == 0 || m.yy == 0) m.xy = 0;
  return m;
}

class MomentMetric final : public Metric {
 public:
  MomentMetric(std::string name, MomentFormula formula)
      : name_(std::move(name)), formula_(formula) {}

  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    const auto [predicted, actual] = flat_columns(output, target);
    const auto missing = actual.isnan();
    const auto of_known = [&](const at::Tensor& all) { return all.masked_fill(missing, 0); };
    const auto x = of_known(formula_.x(predicted, actual)), y = of_known(actual);
    const auto count = missing.logical_not().sum();
    const auto units = count.clamp_min(1);
    const auto mean_x = x.sum().div(units), mean_y = y.sum().div(units);
    const auto dx = of_known(x.sub(mean_x)), dy = of_known(y.sub(mean_y));
    return together(
        {count, mean_x, mean_y, dx.square().sum(), dy.square().sum(), dx.mul(dy).sum()});
  }
  void add(Terms& total, const Terms& batch) const override {
    total = total.empty() ? batch : to_terms(merged(to_moments(total), to_moments(batch)));
  }
  Values values(const Terms& total) const override {
    const bool none = total.empty() || total[0] == 0;
    return {{name_, none ? std::numeric_limits<double>::quiet_NaN()
                         : formula_.of_moments(without_rounding(to_moments(total)))}};
  }

 private:
  std::string name_;
  MomentFormula formula_;
};

}  // namespace

Entry<Metric> mean_metric_entry(const std::string& name, std::string doc, MeanFormula formula,
                                std::vector<std::string> traits) {
  const auto make = [name, formula](const NoOptions&, const MetricContext&) {
    return std::make_unique<MeanMetric>(name, formula);
  };
  return entry<Metric, NoOptions>(name, std::move(doc), make, std::move(traits));
}

Entry<Metric> moment_metric_entry(const std::string& name, std::string doc, MomentFormula formula) {
  const auto make = [name, formula](const NoOptions&, const MetricContext&) {
    return std::make_unique<MomentMetric>(name, formula);
  };
  return entry<Metric, NoOptions>(name, std::move(doc), make,
                                  {"larger_is_better", "at_most_1", "takes_number"});
}

at::Tensor prediction(const at::Tensor& predicted, const at::Tensor&) { return predicted; }

at::Tensor residual(const at::Tensor& predicted, const at::Tensor& actual) {
  return actual.sub(predicted);
}

double explained_share(double rest, double variance) {
  if (variance == 0) return rest == 0 ? 1 : 0;
  return 1 - rest / variance;
}

std::pair<at::Tensor, at::Tensor> flat_columns(const at::Tensor& output, const at::Tensor& target) {
  if (!target.is_floating_point())
    throw Error(Exit::recipe, Option{"metrics"},
                "one of these is about numbers, and the targets are classes; accuracy, f1 "
                "and roc_auc are about classes");
  const auto predicted = output.to(at::kDouble);
  return {predicted.reshape({-1}), fitted_target(target, predicted).reshape({-1})};
}

}  // namespace ddptrain
