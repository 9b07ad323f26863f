#include "metrics/multi_label/label_scores.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <limits>
#include <sstream>

#include "base/error.h"
#include "base/names.h"
#include "metrics/labels.h"

namespace ddptrain {

std::span<const std::string_view> names(LabelAverage) {
  return kNameList<"macro", "micro", "weighted", "samples">;
}

at::Tensor share(const at::Tensor& a, const at::Tensor& b) {
  return at::where(b.eq(0), at::zeros_like(b), a.div(b));
}

void LabelOptions::fields(Fields& f) {
  f("threshold", threshold, {.doc = "A label above this is named."});
  f("sigmoid", sigmoid, {.doc = "Outputs are logits: take their sigmoid first."});
}

void LabelScoreOptions::fields(Fields& f) {
  labels.fields(f);
  f("average", average,
    {.doc = "macro: the mean over labels; micro: of all counts together; weighted: the mean "
            "weighted by how often a label is true; samples: the mean over samples of each one's "
            "own score."});
}

at::Tensor named_labels(const at::Tensor& output, const LabelOptions& options) {
  return (options.sigmoid ? output.sigmoid() : output).gt(options.threshold);
}

at::Tensor true_labels(const at::Tensor& target, const at::Tensor& output) {
  if (target.sizes() != output.sizes()) {
    std::ostringstream message;
    message << "targets of shape " << target.sizes() << " do not fit labels of shape "
            << output.sizes() << "; a metric of several labels wants one column for each";
    throw Error(Exit::recipe, Option{"metrics"}, message.str());
  }
  return target.to(at::kBool);
}

namespace {

at::Tensor column_sums(const at::Tensor& flags) {
  const auto labels = flags.dim() < 2 ? flags.unsqueeze(1) : flags.flatten(1);  // rows may be none
  return labels.sum(0).to(at::kDouble);
}

at::Tensor row_sums(const at::Tensor& flags) { return flags.flatten(1).sum(1).to(at::kDouble); }

/// The average over labels.
class LabelScore final : public Metric {
 public:
  LabelScore(std::string name, const LabelOptions& options, Average average, ClassFormula formula)
      : name_(std::move(name)),
        options_(options),
        average_(average),
        formula_(std::move(formula)) {}

  /// Hits of every label, then how often each was named, then how often each is true.
  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    const auto guess = named_labels(output, options_);
    const auto truth = true_labels(target, output);
    return at::cat({column_sums(guess.logical_and(truth)), column_sums(guess), column_sums(truth)});
  }

  Values values(const Terms& total) const override {
    if (total.empty()) return {{name_, std::numeric_limits<double>::quiet_NaN()}};
    const auto labels = total.size() / 3;
    std::vector<ClassCounts> counts;
    for (std::size_t i = 0; i < labels; ++i)
      counts.push_back({total[i], total[labels + i], total[2 * labels + i]});
    return {{name_, averaged(average_, counts, formula_)}};
  }

 private:
  std::string name_;
  LabelOptions options_;
  Average average_;
  ClassFormula formula_;
};

/// The mean over rows.
class RowScore final : public Metric {
 public:
  RowScore(std::string name, const LabelOptions& options,
           std::function<at::Tensor(const RowCounts&)> formula)
      : name_(std::move(name)), options_(options), formula_(std::move(formula)) {}

  /// The sum of the rows' scores, and how many rows there are.
  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    const auto guess = named_labels(output, options_);
    const auto truth = true_labels(target, output);
    const auto scores =
        formula_({row_sums(guess.logical_and(truth)), row_sums(guess), row_sums(truth)});
    return at::stack({scores.sum(), at::ones_like(scores).sum()});
  }

  Values values(const Terms& total) const override { return {{name_, ratio(total)}}; }

 private:
  std::string name_;
  LabelOptions options_;
  std::function<at::Tensor(const RowCounts&)> formula_;
};

}  // namespace

std::unique_ptr<Metric> make_label_score(std::string name, const LabelScoreOptions& options,
                                         LabelFormula formula) {
  const auto over_labels = [&](Average average) {
    return std::make_unique<LabelScore>(std::move(name), options.labels, average,
                                        std::move(formula.of_label));
  };
  switch (options.average) {
    case LabelAverage::macro:
      return over_labels(Average::macro);
    case LabelAverage::micro:
      return over_labels(Average::micro);
    case LabelAverage::weighted:
      return over_labels(Average::weighted);
    case LabelAverage::samples:
      break;
  }
  return std::make_unique<RowScore>(std::move(name), options.labels, std::move(formula.of_rows));
}

Entry<Metric> label_score_entry(const std::string& name, std::string doc,
                                const LabelFormula& formula) {
  const auto make = [name, formula](const LabelScoreOptions& options, const MetricContext&) {
    return make_label_score(name, options, formula);
  };
  return entry<Metric, LabelScoreOptions>(name, std::move(doc), make,
                                          {"larger_is_better", "at_most_1", "takes_labels"});
}

}  // namespace ddptrain
