// Accuracy of each class over the units that truly are of it.
#include <ATen/ops/stack.h>

#include "metrics/labels.h"
#include "metrics/metric.h"

namespace ddptrain {
namespace {

class PerClassAccuracy final : public Metric {
 public:
  explicit PerClassAccuracy(MetricContext context) : context_(std::move(context)) {}

  /// Right ones and all of class 0, then of class 1, ...
  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    const auto pairs = count_pairs(output, target, context_.void_code).view({output.size(1), -1});
    return at::stack({pairs.diagonal(), pairs.sum(1)}, 1).view({-1});
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
  return entry_of<Metric, PerClassAccuracy>(
      "per_class_accuracy", "Accuracy of each class, named accuracy/CLASS.",
      {"larger_is_better", "at_most_1", "named accuracy/*", "takes_class", "takes_mask"});
}

}  // namespace ddptrain
