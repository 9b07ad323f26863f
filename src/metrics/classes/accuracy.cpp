// Share of units whose largest score is the target's (fastai.metrics.accuracy).
#include "metrics/labels.h"
#include "metrics/metric.h"

namespace ddptrain {
namespace {

class Accuracy final : public Metric {
 public:
  struct Options {
    std::int64_t axis = 1;
    void fields(Fields& f) {
      f("axis", axis, {.doc = "Axis of the classes in the output; -1 is the last.", .min = -1});
    }
  };

  Accuracy(const Options& options, const MetricContext& context)
      : axis_(options.axis), void_code_(context.void_code) {}

  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    const auto guess = predicted(output, axis_);
    const auto labels = labels_of(target, guess, axis_);
    return count_true(guess.eq(labels), scored(labels, void_code_));
  }
  Values values(const Terms& total) const override { return {{"accuracy", ratio(total)}}; }

 private:
  std::int64_t axis_;
  std::optional<std::int64_t> void_code_;
};

}  // namespace

Entry<Metric> accuracy_metric() {
  return entry_of<Metric, Accuracy>(
      "accuracy", "Share of rows (or pixels) whose largest score is the target's.",
      {"larger_is_better", "at_most_1", "takes_class", "takes_mask"});
}

}  // namespace ddptrain
