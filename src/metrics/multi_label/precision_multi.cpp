// tp / of several labels at once (fastai.metrics.PrecisionMulti).
#include "metrics/catalog.h"
#include "metrics/multi_label/label_scores.h"

namespace ddptrain {

Entry<Metric> precision_multi_metric() {
  return entry<Metric, LabelScoreOptions>(
      "precision_multi",
      "The share of units taken for a class that are of it, over several labels at once.",
      [](const LabelScoreOptions& options, const MetricContext&) {
        return make_label_score("precision_multi", options,
                                [](const ClassCounts& c) { return share(c.hits, c.predicted); });
      },
      {"larger_is_better", "at_most_1", "takes_labels"});
}

}  // namespace ddptrain
