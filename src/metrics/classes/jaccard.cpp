// tp / (tp + fp + fn) (sklearn.metrics.jaccard_score, fastai Jaccard).
#include "metrics/catalog.h"
#include "metrics/classes/class_scores.h"

namespace ddptrain {

Entry<Metric> jaccard_metric() {
  return entry<Metric, ClassScoreOptions>(
      "jaccard", "Hits over units that are of a class or were taken for it.",
      [](const ClassScoreOptions& options, const MetricContext& context) {
        return make_class_score("jaccard", options, context, [](const ClassCounts& c) {
          return share(c.hits, c.predicted + c.actual - c.hits);
        });
      },
      {"larger_is_better", "at_most_1", "takes_class"});
}

}  // namespace ddptrain
