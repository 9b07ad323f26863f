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

  explicit ForegroundAccuracy(const Options& options) : background_(options.background) {}

  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    const auto guess = predicted(output);
    const auto labels = labels_of(target, guess);
    const auto counted = labels.ne(background_);
    const auto hits = guess.eq(labels).logical_and(counted);
    return together({hits.sum(), counted.sum()});
  }
  Values values(const Terms& total) const override {
    return {{"foreground_accuracy", ratio(total)}};
  }

 private:
  std::int64_t background_;
};

}  // namespace

Entry<Metric> foreground_accuracy_metric() {
  return entry<Metric, ForegroundAccuracy::Options>(
      "foreground_accuracy", "Accuracy over the units that are not background.",
      [](const ForegroundAccuracy::Options& options, const MetricContext&) {
        return std::make_unique<ForegroundAccuracy>(options);
      },
      {"larger_is_better", "at_most_1", "takes_class"});
}

}  // namespace ddptrain
