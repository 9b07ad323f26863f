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

  explicit ErrorRate(const Options& options) : axis_(options.axis) {}

  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    const auto guess = predicted(output, axis_);
    return count_true(guess.ne(labels_of(target, guess, axis_)));
  }
  Values values(const Terms& total) const override { return {{"error_rate", ratio(total)}}; }

 private:
  std::int64_t axis_;
};

}  // namespace

Entry<Metric> error_rate_metric() {
  return entry<Metric, ErrorRate::Options>(
      "error_rate", "Share of rows (or pixels) whose largest score is not the target's.",
      [](const ErrorRate::Options& options, const MetricContext&) {
        return std::make_unique<ErrorRate>(options);
      },
      {"smaller_is_better", "at_most_1", "takes_class"});
}

}  // namespace ddptrain
