// 2 tp / (2 tp + fp + fn) (sklearn.metrics.f1_score, fastai F1Score).
#include "metrics/catalog.h"
#include "metrics/classes/class_scores.h"

namespace ddptrain {

Entry<Metric> f1_metric() {
  return entry<Metric, ClassScoreOptions>(
      "f1", "The harmonic mean of precision and recall.",
      [](const ClassScoreOptions& options, const MetricContext& context) {
        return make_class_score("f1", options, context, [](const ClassCounts& c) {
          return share(2 * c.hits, c.predicted + c.actual);
        });
      },
      {"larger_is_better", "at_most_1", "takes_class"});
}

}  // namespace ddptrain
