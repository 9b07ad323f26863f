// precision_multi, recall_multi, f1_multi, jaccard_multi. Shares of hits, label by label.
#include "metrics/metric.h"
#include "metrics/multi_label/label_scores.h"

namespace ddptrain {

/// tp / of several labels at once (fastai.metrics.PrecisionMulti).
Entry<Metric> precision_multi_metric() {
  return entry<Metric, LabelScoreOptions>(
      "precision_multi",
      "The share of units taken for a class that are of it, over several labels at once.",
      [](const LabelScoreOptions& options, const MetricContext&) {
        return make_label_score("precision_multi", options, LabelFormula::from([](const auto& c) {
                                  return share(c.hits, c.predicted);
                                }));
      },
      {"larger_is_better", "at_most_1", "takes_labels"});
}

/// tp / of several labels at once (fastai.metrics.RecallMulti).
Entry<Metric> recall_multi_metric() {
  return entry<Metric, LabelScoreOptions>(
      "recall_multi",
      "The share of units of a class that were taken for it, over several labels at once.",
      [](const LabelScoreOptions& options, const MetricContext&) {
        return make_label_score("recall_multi", options, LabelFormula::from([](const auto& c) {
                                  return share(c.hits, c.actual);
                                }));
      },
      {"larger_is_better", "at_most_1", "takes_labels"});
}

/// 2 tp / of several labels at once (fastai.metrics.F1ScoreMulti).
Entry<Metric> f1_multi_metric() {
  return entry<Metric, LabelScoreOptions>(
      "f1_multi", "The harmonic mean of precision and recall, over several labels at once.",
      [](const LabelScoreOptions& options, const MetricContext&) {
        return make_label_score("f1_multi", options, LabelFormula::from([](const auto& c) {
                                  return share(2 * c.hits, c.predicted + c.actual);
                                }));
      },
      {"larger_is_better", "at_most_1", "takes_labels"});
}

/// tp / of several labels at once (fastai.metrics.JaccardMulti).
Entry<Metric> jaccard_multi_metric() {
  return entry<Metric, LabelScoreOptions>(
      "jaccard_multi",
      "Hits over units that are of a class or were taken for it, over several labels at once.",
      [](const LabelScoreOptions& options, const MetricContext&) {
        return make_label_score("jaccard_multi", options, LabelFormula::from([](const auto& c) {
                                  return share(c.hits, c.predicted + c.actual - c.hits);
                                }));
      },
      {"larger_is_better", "at_most_1", "takes_labels"});
}

}  // namespace ddptrain
