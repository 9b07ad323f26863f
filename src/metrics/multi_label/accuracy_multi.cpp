// Share of labels that are right, row and label alike (fastai.metrics.accuracy_multi).
#include "metrics/labels.h"
#include "metrics/metric.h"
#include "metrics/multi_label/label_scores.h"

namespace ddptrain {
namespace {

class AccuracyMulti final : public Metric {
 public:
  explicit AccuracyMulti(const LabelOptions& options) : options_(options) {}

  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    return count_true(named_labels(output, options_).eq(true_labels(target, output)));
  }
  Values values(const Terms& total) const override { return {{"accuracy_multi", ratio(total)}}; }

 private:
  LabelOptions options_;
};

}  // namespace

Entry<Metric> accuracy_multi_metric() {
  return entry_of<Metric, AccuracyMulti, LabelOptions>(
      "accuracy_multi", "Share of labels that are right, over several labels at once.",
      {"larger_is_better", "at_most_1", "takes_labels"});
}

}  // namespace ddptrain
