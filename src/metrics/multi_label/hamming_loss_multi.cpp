// Share of labels that are wrong, row and label alike (fastai.metrics.HammingLossMulti).
#include "metrics/labels.h"
#include "metrics/metric.h"
#include "metrics/multi_label/label_scores.h"

namespace ddptrain {
namespace {

class HammingLossMulti final : public Metric {
 public:
  explicit HammingLossMulti(const LabelOptions& options) : options_(options) {}

  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    return count_true(named_labels(output, options_).ne(true_labels(target, output)));
  }
  Values values(const Terms& total) const override {
    return {{"hamming_loss_multi", ratio(total)}};
  }

 private:
  LabelOptions options_;
};

}  // namespace

Entry<Metric> hamming_loss_multi_metric() {
  return entry_of<Metric, HammingLossMulti, LabelOptions>(
      "hamming_loss_multi", "Share of labels that are wrong, over several labels at once.",
      {"smaller_is_better", "at_most_1", "takes_labels"});
}

}  // namespace ddptrain
