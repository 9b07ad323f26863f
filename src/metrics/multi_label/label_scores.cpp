#include "metrics/multi_label/label_scores.h"

#include <ATen/ops/cat.h>

#include <array>
#include <limits>
#include <sstream>

#include "base/error.h"

namespace ddptrain {

std::span<const std::string_view> names(LabelAverage) {
  static constexpr std::array<std::string_view, 3> words{"macro", "micro", "weighted"};
  return words;
}

Average average_of(LabelAverage average) {
  switch (average) {
    case LabelAverage::macro:
      return Average::macro;
    case LabelAverage::micro:
      return Average::micro;
    case LabelAverage::weighted:
      break;
  }
  return Average::weighted;
}

void LabelOptions::fields(Fields& f) {
  f("threshold", threshold, {.doc = "A label above this is named."});
  f("sigmoid", sigmoid, {.doc = "Outputs are logits: take their sigmoid first."});
}

void LabelScoreOptions::fields(Fields& f) {
  labels.fields(f);
  f("average", average,
    {.doc = "macro: the mean over labels; micro: of all counts together; weighted: the mean "
            "weighted by how often a label is true."});
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

class LabelScore final : public Metric {
 public:
  LabelScore(std::string name, const LabelScoreOptions& options, ClassFormula formula)
      : name_(std::move(name)), options_(options), formula_(std::move(formula)) {}

  /// Hits of every label, then how often each was named, then how often each is true.
  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    const auto guess = named_labels(output, options_.labels);
    const auto truth = true_labels(target, output);
    return at::cat({column_sums(guess.logical_and(truth)), column_sums(guess), column_sums(truth)});
  }

  Values values(const Terms& total) const override {
    if (total.empty()) return {{name_, std::numeric_limits<double>::quiet_NaN()}};
    const auto labels = total.size() / 3;
    std::vector<ClassCounts> counts;
    for (std::size_t i = 0; i < labels; ++i)
      counts.push_back({total[i], total[labels + i], total[2 * labels + i]});
    return {{name_, averaged(average_of(options_.average), counts, formula_)}};
  }

 private:
  std::string name_;
  LabelScoreOptions options_;
  ClassFormula formula_;
};

}  // namespace

std::unique_ptr<Metric> make_label_score(std::string name, const LabelScoreOptions& options,
                                         ClassFormula formula) {
  return std::make_unique<LabelScore>(std::move(name), options, std::move(formula));
}

}  // namespace ddptrain
