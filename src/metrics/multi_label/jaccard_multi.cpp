// tp / of several labels at once (fastai.metrics.JaccardMulti).
#include "metrics/catalog.h"
#include "metrics/multi_label/label_scores.h"

namespace ddptrain {

Entry<Metric> jaccard_multi_metric() {
  return entry<Metric, LabelScoreOptions>(
      "jaccard_multi",
      "Hits over units that are of a class or were taken for it, over several labels at once.",
      [](const LabelScoreOptions& options, const MetricContext&) {
        return make_label_score("jaccard_multi", options, [](const ClassCounts& c) {
          return share(c.hits, c.predicted + c.actual - c.hits);
        });
      },
      {"larger_is_better", "at_most_1", "takes_labels"});
}

}  // namespace ddptrain
