// The chance that a row of class 1 scores higher than one of class 0 (fastai.metrics.RocAucBinary).
#include "metrics/catalog.h"
#include "metrics/ranking/ranking.h"

namespace ddptrain {

Entry<Metric> roc_auc_binary_metric() {
  return entry<Metric, NoOptions>(
      "roc_auc_binary", "Area under the ROC curve of class 1, of two.",
      [](const NoOptions&, const MetricContext&) {
        return make_binary_ranking("roc_auc_binary", roc_auc);
      },
      {"larger_is_better", "at_most_1", "takes_class", "two_classes", "one_output"});
}

}  // namespace ddptrain
