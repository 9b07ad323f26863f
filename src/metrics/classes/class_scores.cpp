#include "metrics/classes/class_scores.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/names.h"
#include "metrics/labels.h"

namespace ddptrain {

std::span<const std::string_view> names(Average) {
  return kNameList<"binary", "macro", "micro", "weighted">;
}

void ClassScoreOptions::fields(Fields& f) {
  f("average", average,
    {.doc = "binary: of class 'positive'; macro: the mean over classes; micro: of all counts "
            "together; weighted: the mean weighted by the classes' sizes."});
  f("positive", positive, {.doc = "The class that 'average: binary' is about.", .min = 0});
}

double averaged(Average average, const std::vector<ClassCounts>& classes,
                const ClassFormula& formula) {
  ClassCounts all;
  double sum = 0;
  double weights = 0;
  for (const auto& counts : classes) {
    const double weight = average == Average::weighted ? counts.actual : 1;
    sum += weight * formula(counts);
    weights += weight;
    all.hits += counts.hits;
    all.predicted += counts.predicted;
    all.actual += counts.actual;
  }
  return average == Average::micro ? formula(all) : share(sum, weights);
}

ClassCounts second_of_two(const std::vector<double>& pairs, const std::string& metric) {
  const auto classes = class_counts(pairs);
  if (classes.size() != 2)
    throw Error(Exit::recipe, Option{"metrics"},
                "{} is for two classes, and {} are given; there is {}_multi", metric,
                classes.size(), metric);
  return classes[1];
}

double mean_over_met(const std::vector<ClassCounts>& classes, const ClassFormula& formula) {
  double sum = 0;
  double met = 0;
  for (const auto& counts : classes) {
    if (counts.predicted + counts.actual == 0) continue;
    sum += formula(counts);
    ++met;
  }
  return sum / met;
}

namespace {

class PairMetric final : public Metric {
 public:
  PairMetric(std::string name, PairFormula formula, const MetricContext& context)
      : name_(std::move(name)), formula_(formula), void_code_(context.void_code) {}

  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    return count_pairs(output, target, void_code_);
  }
  Values values(const Terms& total) const override {
    const bool none = std::all_of(total.begin(), total.end(), [](double n) { return n == 0; });
    return {{name_, none ? std::numeric_limits<double>::quiet_NaN() : formula_(total)}};
  }

 private:
  std::string name_;
  PairFormula formula_;
  std::optional<std::int64_t> void_code_;
};

class ClassScore final : public Metric {
 public:
  ClassScore(std::string name, const ClassScoreOptions& options, const MetricContext& context,
             ClassFormula formula)
      : name_(std::move(name)),
        options_(options),
        formula_(std::move(formula)),
        void_code_(context.void_code) {
    require_two(context.classes.size());
  }

  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    require_two(static_cast<std::size_t>(output.size(1)));
    return count_pairs(output, target, void_code_);
  }

  Values values(const Terms& total) const override { return {{name_, value(total)}}; }

 private:
  void require_two(std::size_t classes) const {
    if (options_.average == Average::binary && classes > 2)
      throw Error(
          Exit::recipe, Option{"metrics"},
          "{}.average: binary is for two classes, and {} are given; write macro, micro or weighted",
          name_, classes);
  }

  double value(const Terms& total) const {
    if (total.empty()) return std::numeric_limits<double>::quiet_NaN();
    const auto classes = class_counts(total);
    if (options_.average != Average::binary)
      return averaged(options_.average, met(classes), formula_);
    const auto positive = static_cast<std::size_t>(options_.positive);
    return positive < classes.size() ? formula_(classes[positive]) : 0;
  }

  static std::vector<ClassCounts> met(const std::vector<ClassCounts>& classes) {
    std::vector<ClassCounts> some;
    for (const auto& counts : classes)
      if (counts.predicted + counts.actual > 0) some.push_back(counts);
    return some;
  }

  std::string name_;
  ClassScoreOptions options_;
  ClassFormula formula_;
  std::optional<std::int64_t> void_code_;
};

}  // namespace

Entry<Metric> pair_metric_entry(const std::string& name, std::string doc, PairFormula formula,
                                std::vector<std::string> traits) {
  const auto make = [name, formula](const NoOptions&, const MetricContext& context) {
    return std::make_unique<PairMetric>(name, formula, context);
  };
  return entry<Metric, NoOptions>(name, std::move(doc), make, std::move(traits));
}

Entry<Metric> class_score_entry(const std::string& name, std::string doc,
                                const ClassFormula& formula) {
  const auto make = [name, formula](const ClassScoreOptions& options,
                                    const MetricContext& context) {
    return make_class_score(name, options, context, formula);
  };
  return entry<Metric, ClassScoreOptions>(
      name, std::move(doc), make, {"larger_is_better", "at_most_1", "takes_class", "takes_mask"});
}

std::unique_ptr<Metric> make_class_score(std::string name, const ClassScoreOptions& options,
                                         const MetricContext& context, ClassFormula formula) {
  return std::make_unique<ClassScore>(std::move(name), options, context, std::move(formula));
}

}  // namespace ddptrain
