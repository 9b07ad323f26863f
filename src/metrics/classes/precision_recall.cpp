// precision, recall, f1, jaccard. Shares of hits, class by class.
#include "metrics/classes/class_scores.h"
#include "metrics/metric.h"

namespace ddptrain {

/// tp / (tp + fp) (sklearn.metrics.precision_score, fastai Precision).
Entry<Metric> precision_metric() {
  return entry<Metric, ClassScoreOptions>(
      "precision", "The share of units taken for a class that are of it.",
      [](const ClassScoreOptions& options, const MetricContext& context) {
        return make_class_score("precision", options, context,
                                [](const ClassCounts& c) { return share(c.hits, c.predicted); });
      },
      {"larger_is_better", "at_most_1", "takes_class", "takes_mask"});
}

/// tp / (tp + fn) (sklearn.metrics.recall_score, fastai Recall).
Entry<Metric> recall_metric() {
  return entry<Metric, ClassScoreOptions>(
      "recall", "The share of units of a class that were taken for it.",
      [](const ClassScoreOptions& options, const MetricContext& context) {
        return make_class_score("recall", options, context,
                                [](const ClassCounts& c) { return share(c.hits, c.actual); });
      },
      {"larger_is_better", "at_most_1", "takes_class", "takes_mask"});
}

/// 2 tp / (2 tp + fp + fn) (sklearn.metrics.f1_score, fastai F1Score).
Entry<Metric> f1_metric() {
  return entry<Metric, ClassScoreOptions>(
      "f1", "The harmonic mean of precision and recall.",
      [](const ClassScoreOptions& options, const MetricContext& context) {
        return make_class_score("f1", options, context, [](const ClassCounts& c) {
          return share(2 * c.hits, c.predicted + c.actual);
        });
      },
      {"larger_is_better", "at_most_1", "takes_class", "takes_mask"});
}

/// tp / (tp + fp + fn) (sklearn.metrics.jaccard_score, fastai Jaccard).
Entry<Metric> jaccard_metric() {
  return entry<Metric, ClassScoreOptions>(
      "jaccard", "Hits over units that are of a class or were taken for it.",
      [](const ClassScoreOptions& options, const MetricContext& context) {
        return make_class_score("jaccard", options, context, [](const ClassCounts& c) {
          return share(c.hits, c.predicted + c.actual - c.hits);
        });
      },
      {"larger_is_better", "at_most_1", "takes_class", "takes_mask"});
}

}  // namespace ddptrain
