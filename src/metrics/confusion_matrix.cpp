// How often each true class was taken for each other (sklearn.metrics.confusion_matrix).
#include "metrics/catalog.h"
#include "metrics/labels.h"

namespace ddptrain {
namespace {

class ConfusionMatrix final : public Metric {
 public:
  explicit ConfusionMatrix(MetricContext context) : context_(std::move(context)) {}

  /// Row by row: terms[true * classes + predicted].
  Terms terms(const at::Tensor& output, const at::Tensor& target, const LossTerms&) const override {
    return count_pairs(output, target);
  }

  Values values(const Terms& total) const override {
    std::size_t classes = 0;
    while (classes * classes < total.size()) ++classes;
    Values cells;
    for (std::size_t i = 0; i < total.size(); ++i)
      cells.emplace_back("confusion_matrix/" + class_name(context_, i / classes) + "/" +
                             class_name(context_, i % classes),
                         total[i]);
    return cells;
  }

 private:
  MetricContext context_;
};

}  // namespace

Entry<Metric> confusion_matrix_metric() {
  return entry<Metric, NoOptions>("confusion_matrix",
                                  "Counts of each true class taken for each predicted one.",
                                  [](const NoOptions&, const MetricContext& context) {
                                    return std::make_unique<ConfusionMatrix>(context);
                                  },
                                  {"matrix", "named confusion_matrix/*", "takes_class"});
}

}  // namespace ddptrain
