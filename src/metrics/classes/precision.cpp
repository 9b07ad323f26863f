// tp / (tp + fp) (sklearn.metrics.precision_score, fastai Precision).
#include "metrics/catalog.h"
#include "metrics/classes/class_scores.h"

namespace ddptrain {

Entry<Metric> precision_metric() {
  return entry<Metric, ClassScoreOptions>(
      "precision", "The share of units taken for a class that are of it.",
      [](const ClassScoreOptions& options, const MetricContext& context) {
        return make_class_score("precision", options, context,
                                [](const ClassCounts& c) { return share(c.hits, c.predicted); });
      },
      {"larger_is_better", "at_most_1", "takes_class"});
}

}  // namespace ddptrain
