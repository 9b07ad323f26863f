// Area under the ROC curve of several labels at once (fastai.metrics.RocAucMulti).
#include "metrics/catalog.h"
#include "metrics/ranking/ranking.h"

namespace ddptrain {

Entry<Metric> roc_auc_multi_metric() {
  return entry<Metric, LabelRankingOptions>(
      "roc_auc_multi", "Area under the ROC curve of each label, averaged.",
      [](const LabelRankingOptions& options, const MetricContext&) {
        return make_label_ranking("roc_auc_multi", options, roc_auc);
      },
      {"larger_is_better", "at_most_1", "takes_labels"});
}

}  // namespace ddptrain
