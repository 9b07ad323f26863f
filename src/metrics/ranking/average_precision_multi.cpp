// Average precision of several labels at once (fastai.metrics.APScoreMulti).
#include "metrics/catalog.h"
#include "metrics/ranking/ranking.h"

namespace ddptrain {

Entry<Metric> average_precision_multi_metric() {
  return entry<Metric, LabelRankingOptions>(
      "average_precision_multi", "Average precision of each label, averaged.",
      [](const LabelRankingOptions& options, const MetricContext&) {
        return make_label_ranking("average_precision_multi", options, average_precision);
      },
      {"larger_is_better", "at_most_1", "takes_labels"});
}

}  // namespace ddptrain
