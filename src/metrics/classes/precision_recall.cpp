// precision, recall, f1, jaccard. Shares of hits, class by class.
#include "metrics/classes/class_scores.h"
#include "metrics/metric.h"

namespace ddptrain {

/// tp / (tp + fp) (sklearn.metrics.precision_score, fastai Precision).
Entry<Metric> precision_metric() {
  return class_score_entry("precision", "The share of units taken for a class that are of it.",
                           [](const ClassCounts& c) { return share(c.hits, c.predicted); });
}

/// tp / (tp + fn) (sklearn.metrics.recall_score, fastai Recall).
Entry<Metric> recall_metric() {
  return class_score_entry("recall", "The share of units of a class that were taken for it.",
                           [](const ClassCounts& c) { return share(c.hits, c.actual); });
}

/// 2 tp / (2 tp + fp + fn) (sklearn.metrics.f1_score, fastai F1Score).
Entry<Metric> f1_metric() {
  return class_score_entry(
      "f1", "The harmonic mean of precision and recall.",
      [](const ClassCounts& c) { return share(2 * c.hits, c.predicted + c.actual); });
}

/// tp / (tp + fp + fn) (sklearn.metrics.jaccard_score, fastai Jaccard).
Entry<Metric> jaccard_metric() {
  return class_score_entry(
      "jaccard", "Hits over units that are of a class or were taken for it.",
      [](const ClassCounts& c) { return share(c.hits, c.predicted + c.actual - c.hits); });
}

}  // namespace ddptrain
