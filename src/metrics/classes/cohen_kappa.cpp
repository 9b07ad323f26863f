// Agreement of predicted and true classes beyond chance (sklearn.metrics.cohen_kappa_score).
#include "base/names.h"
#include "metrics/classes/class_scores.h"
#include "metrics/labels.h"
#include "metrics/metric.h"

namespace ddptrain {
namespace {

enum class Weights { none, linear, quadratic };
std::span<const std::string_view> names(Weights) {
  return kNameList<"none", "linear", "quadratic">;
}

double weight(Weights weights, std::size_t a, std::size_t b) {
  const double distance = a < b ? static_cast<double>(b - a) : static_cast<double>(a - b);
  if (weights == Weights::none) return distance == 0 ? 0 : 1;
  return weights == Weights::linear ? distance : distance * distance;
}

class CohenKappa final : public Metric {
 public:
  struct Options {
    Weights weights = Weights::none;
    void fields(Fields& f) {
      f("weights", weights,
        {.doc = "How much worse a class further away is: not, by its distance, or by its square."});
    }
  };

  CohenKappa(const Options& options, const MetricContext& context)
      : weights_(options.weights), void_code_(context.void_code) {}

  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    return count_pairs(output, target, void_code_);
  }
  Values values(const Terms& total) const override { return {{"cohen_kappa", value(total)}}; }

 private:
  // Distances count classes that were met only, as there.
  double value(const Terms& pairs) const {
    const auto classes = class_counts(pairs);
    std::vector<std::size_t> met;
    double all = 0;
    for (std::size_t c = 0; c < classes.size(); ++c) {
      if (classes[c].actual + classes[c].predicted > 0) met.push_back(c);
      all += classes[c].actual;
    }
    double seen = 0;
    double expected = 0;
    for (std::size_t a = 0; a < met.size(); ++a)
      for (std::size_t b = 0; b < met.size(); ++b) {
        const double by = weight(weights_, a, b);
        seen += by * pairs[met[a] * classes.size() + met[b]];
        expected += by * classes[met[a]].actual * classes[met[b]].predicted / all;
      }
    return 1 - seen / expected;
  }

  Weights weights_;
  std::optional<std::int64_t> void_code_;
};

}  // namespace

Entry<Metric> cohen_kappa_metric() {
  return entry_of<Metric, CohenKappa>(
      "cohen_kappa", "Cohen's kappa: agreement of predicted and true classes beyond chance.",
      {"larger_is_better", "at_most_1", "takes_class", "takes_mask"});
}

}  // namespace ddptrain
