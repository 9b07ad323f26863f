// roc_auc_binary, roc_auc_multi. The area under the receiver operating curve.
#include "metrics/metric.h"
#include "metrics/ranking/ranking.h"

namespace ddptrain {

/// The chance that a row of class 1 scores higher than one of class 0
/// (fastai.metrics.RocAucBinary).
Entry<Metric> roc_auc_binary_metric() {
  return entry<Metric, NoOptions>(
      "roc_auc_binary", "Area under the ROC curve of class 1, of two.",
      [](const NoOptions&, const MetricContext&) {
        return make_binary_ranking("roc_auc_binary", roc_auc);
      },
      {"larger_is_better", "at_most_1", "takes_class", "two_classes", "one_output"});
}

/// Area under the ROC curve of several labels at once (fastai.metrics.RocAucMulti).
Entry<Metric> roc_auc_multi_metric() {
  return entry<Metric, LabelRankingOptions>(
      "roc_auc_multi", "Area under the ROC curve of each label, averaged.",
      [](const LabelRankingOptions& options, const MetricContext&) {
        return make_label_ranking("roc_auc_multi", options, roc_auc);
      },
      {"larger_is_better", "at_most_1", "takes_labels"});
}

}  // namespace ddptrain
