// (1 + b^2) tp / ((1 + b^2) tp + fp + b^2 fn) (sklearn.metrics.fbeta_score, fastai FBeta).
#include "metrics/classes/class_scores.h"
#include "metrics/fbeta_options.h"
#include "metrics/metric.h"

namespace ddptrain {
Entry<Metric> fbeta_metric() {
  return entry<Metric, FbetaOptions<ClassScoreOptions>>(
      "fbeta", "F1 in which recall counts beta times as much as precision.",
      [](const FbetaOptions<ClassScoreOptions>& options, const MetricContext& context) {
        const double square = options.beta * options.beta;
        return make_class_score("fbeta", options.score, context, [square](const ClassCounts& c) {
          return share((1 + square) * c.hits, c.predicted + square * c.actual);
        });
      },
      {"larger_is_better", "at_most_1", "takes_class", "takes_mask"});
}

}  // namespace ddptrain
