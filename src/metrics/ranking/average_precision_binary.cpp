// Average precision of class 1, of two (fastai.metrics.APScoreBinary).
#include "metrics/catalog.h"
#include "metrics/ranking/ranking.h"

namespace ddptrain {

Entry<Metric> average_precision_binary_metric() {
  return entry<Metric, NoOptions>(
      "average_precision_binary", "Average precision of class 1, of two.",
      [](const NoOptions&, const MetricContext&) {
        return make_binary_ranking("average_precision_binary", average_precision);
      },
      {"larger_is_better", "at_most_1", "takes_class", "two_classes", "one_output"});
}

}  // namespace ddptrain
