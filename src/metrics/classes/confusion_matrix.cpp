// How often each true class was taken for each other (sklearn.metrics.confusion_matrix), and what
// follows from it for each class (sklearn.metrics.precision_recall_fscore_support,
// zero_division=0).
#include "metrics/classes/class_scores.h"
#include "metrics/labels.h"
#include "metrics/metric.h"

namespace ddptrain {
namespace {

class ConfusionMatrix final : public Metric {
 public:
  explicit ConfusionMatrix(MetricContext context) : context_(std::move(context)) {}

  /// Row by row: terms[true * classes + predicted].
  at::Tensor sums(const at::Tensor& output, const at::Tensor& target,
                  const LossTerms&) const override {
    return count_pairs(output, target, context_.void_code);
  }

  Values values(const Terms&) const override { return {}; }

  std::vector<NamedTable> tables(const Terms& total) const override {
    const auto classes = class_counts(total).size();
    std::vector<std::string> names;
    for (std::size_t i = 0; i < classes; ++i) names.push_back(class_name(context_, i));
    NamedTable pairs{NamedTable::Kind::confusion,
                     "confusion_matrix",
                     "confusion",
                     "true \\ predicted",
                     names,
                     names,
                     total};
    auto scores = class_report(pairs, "classes");
    return {std::move(pairs), std::move(scores)};
  }

 private:
  MetricContext context_;
};

}  // namespace

Entry<Metric> confusion_matrix_metric() {
  return entry_of<Metric, ConfusionMatrix>(
      "confusion_matrix",
      "Counts of each true class taken for each predicted one, and precision, recall, F1 and "
      "support of each class: tables at the end of a run, and confusion.csv and classes.csv in its "
      "folder, of the best weights where checkpoint.keep_best keeps them, else of the last. "
      "'confusion_matrix/cat/dog' or 'confusion_matrix/cat/recall' names one number of them.",
      {"named confusion_matrix/*", "takes_class", "takes_mask"});
}

}  // namespace ddptrain
