// 1 - accuracy (fastai.metrics.error_rate).
#include "metrics/labels.h"
#include "metrics/metric.h"

namespace ddptrain {
namespace {

class ErrorRate final : public Metric {
 public:
  struct Options {
    std::int64_t axis = 1;
    void fields(Fields& f) {
      f("axis", axis, {.doc = "Axis of the classes in the output; -1 is the last.", .min = -1});
    }
  };

  ErrorRate(const Options& options, const MetricContext& context)
      : axis_(options.axis), void_code_(context.void_code) {}

  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    const auto guess = predicted(output, axis_);
    const auto labels = labels_of(target, guess, axis_);
    return count_true(guess.ne(labels), scored(labels, void_code_));
  }
  Values values(const Terms& total) const override { return {{"error_rate", ratio(total)}}; }

 private:
  std::int64_t axis_;
  std::optional<std::int64_t> void_code_;
};

}  // namespace

Entry<Metric> error_rate_metric() {
  return entry_of<Metric, ErrorRate>(
      "error_rate", "Share of rows (or pixels) whose largest score is not the target's.",
      {"smaller_is_better", "at_most_1", "takes_class", "takes_mask"});
}

}  // namespace ddptrain
