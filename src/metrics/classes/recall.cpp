// tp / (tp + fn) (sklearn.metrics.recall_score, fastai Recall).
#include "metrics/catalog.h"
#include "metrics/classes/class_scores.h"

namespace ddptrain {

Entry<Metric> recall_metric() {
  return entry<Metric, ClassScoreOptions>(
      "recall", "The share of units of a class that were taken for it.",
      [](const ClassScoreOptions& options, const MetricContext& context) {
        return make_class_score("recall", options, context,
                                [](const ClassCounts& c) { return share(c.hits, c.actual); });
      },
      {"larger_is_better", "at_most_1", "takes_class"});
}

}  // namespace ddptrain
