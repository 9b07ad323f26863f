// 2 tp / of several labels at once (fastai.metrics.F1ScoreMulti).
#include "metrics/catalog.h"
#include "metrics/multi_label/label_scores.h"

namespace ddptrain {

Entry<Metric> f1_multi_metric() {
  return entry<Metric, LabelScoreOptions>(
      "f1_multi", "The harmonic mean of precision and recall, over several labels at once.",
      [](const LabelScoreOptions& options, const MetricContext&) {
        return make_label_score("f1_multi", options, [](const ClassCounts& c) {
          return share(2 * c.hits, c.predicted + c.actual);
        });
      },
      {"larger_is_better", "at_most_1", "takes_labels"});
}

}  // namespace ddptrain
