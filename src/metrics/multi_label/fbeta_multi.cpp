// (1 + b^2) tp / ((1 + b^2) tp + fp + b^2 fn) of several labels at once
// (fastai.metrics.FBetaMulti).
#include "metrics/fbeta_options.h"
#include "metrics/metric.h"
#include "metrics/multi_label/label_scores.h"

namespace ddptrain {
Entry<Metric> fbeta_multi_metric() {
  return entry<Metric, FbetaOptions<LabelScoreOptions>>(
      "fbeta_multi",
      "F1 in which recall counts beta times as much as precision, over several labels at once.",
      [](const FbetaOptions<LabelScoreOptions>& options, const MetricContext&) {
        const double square = options.beta * options.beta;
        return make_label_score(
            "fbeta_multi", options.score, LabelFormula::from([square](const auto& c) {
              return share((1 + square) * c.hits, c.predicted + square * c.actual);
            }));
      },
      {"larger_is_better", "at_most_1", "takes_labels"});
}

}  // namespace ddptrain
