// Accuracy of each class over the units that truly are of it.
#include "metrics/labels.h"
#include "metrics/metric.h"

namespace ddptrain {
namespace {

class PerClassAccuracy final : public Metric {
 public:
  explicit PerClassAccuracy(MetricContext context) : context_(std::move(context)) {}

  /// Right ones and all of class 0, then of class 1, ...
  Terms terms(const at::Tensor& output, const at::Tensor& target, const LossTerms&) const override {
    const auto pairs = count_pairs(output, target);
    const auto classes = static_cast<std::size_t>(output.size(1));
    Terms terms(2 * classes);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto truth = i / classes;
      if (i % classes == truth) terms[2 * truth] += pairs[i];
      terms[2 * truth + 1] += pairs[i];
    }
    return terms;
  }

  Values values(const Terms& total) const override {
    Values all;
    for (std::size_t c = 0; 2 * c < total.size(); ++c)
      all.emplace_back("accuracy/" + class_name(context_, c),
                       ratio({total[2 * c], total[2 * c + 1]}));
    return all;
  }

 private:
  MetricContext context_;
};

}  // namespace

Entry<Metric> per_class_accuracy_metric() {
  return entry<Metric, NoOptions>(
      "per_class_accuracy", "Accuracy of each class, named accuracy/CLASS.",
      [](const NoOptions&, const MetricContext& context) {
        return std::make_unique<PerClassAccuracy>(context);
      },
      {"larger_is_better", "at_most_1", "named accuracy/*", "takes_class"});
}

}  // namespace ddptrain
