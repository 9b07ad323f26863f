// Accuracy over the units that are not background (fastai.metrics.foreground_acc).
#include "metrics/labels.h"
#include "metrics/metric.h"

namespace ddptrain {
namespace {

class ForegroundAccuracy final : public Metric {
 public:
  struct Options {
    std::int64_t background = 0;
    void fields(Fields& f) {
      f("background", background, {.doc = "The class that does not count.", .min = 0});
    }
  };

  ForegroundAccuracy(const Options& options, const MetricContext& context)
      : background_(options.background), void_code_(context.void_code) {}

  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    const auto guess = predicted(output);
    const auto labels = labels_of(target, guess);
    auto counted = labels.ne(background_);
    if (void_code_) counted = counted.logical_and(labels.ne(*void_code_));
    return count_true(guess.eq(labels), counted);
  }
  Values values(const Terms& total) const override {
    return {{"foreground_accuracy", ratio(total)}};
  }

 private:
  std::int64_t background_;
  std::optional<std::int64_t> void_code_;
};

}  // namespace

Entry<Metric> foreground_accuracy_metric() {
  return entry_of<Metric, ForegroundAccuracy>(
      "foreground_accuracy", "Accuracy over the units that are not background.",
      {"larger_is_better", "at_most_1", "takes_class", "takes_mask"});
}

}  // namespace ddptrain
