// average_precision_binary, average_precision_multi. The area under precision over recall.
#include "metrics/metric.h"
#include "metrics/ranking/ranking.h"

namespace ddptrain {

/// Average precision of class 1, of two (fastai.metrics.APScoreBinary).
Entry<Metric> average_precision_binary_metric() {
  return entry<Metric, NoOptions>(
      "average_precision_binary", "Average precision of class 1, of two.",
      [](const NoOptions&, const MetricContext&) {
        return make_binary_ranking("average_precision_binary", average_precision);
      },
      {"larger_is_better", "at_most_1", "takes_class", "two_classes", "one_output"});
}

/// Average precision of several labels at once (fastai.metrics.APScoreMulti).
Entry<Metric> average_precision_multi_metric() {
  return entry<Metric, LabelRankingOptions>(
      "average_precision_multi", "Average precision of each label, averaged.",
      [](const LabelRankingOptions& options, const MetricContext&) {
        return make_label_ranking("average_precision_multi", options, average_precision);
      },
      {"larger_is_better", "at_most_1", "takes_labels"});
}

}  // namespace ddptrain
