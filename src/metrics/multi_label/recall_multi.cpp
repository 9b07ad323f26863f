// tp / of several labels at once (fastai.metrics.RecallMulti).
#include "metrics/catalog.h"
#include "metrics/multi_label/label_scores.h"

namespace ddptrain {

Entry<Metric> recall_multi_metric() {
  return entry<Metric, LabelScoreOptions>(
      "recall_multi",
      "The share of units of a class that were taken for it, over several labels at once.",
      [](const LabelScoreOptions& options, const MetricContext&) {
        return make_label_score("recall_multi", options,
                                [](const ClassCounts& c) { return share(c.hits, c.actual); });
      },
      {"larger_is_better", "at_most_1", "takes_labels"});
}

}  // namespace ddptrain
