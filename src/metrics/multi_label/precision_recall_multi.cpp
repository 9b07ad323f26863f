// precision_multi, recall_multi, f1_multi, jaccard_multi. Shares of hits, label by label.
#include "metrics/metric.h"
#include "metrics/multi_label/label_scores.h"

namespace ddptrain {

/// tp / of several labels at once (fastai.metrics.PrecisionMulti).
Entry<Metric> precision_multi_metric() {
  return label_score_entry(
      "precision_multi",
      "The share of units taken for a class that are of it, over several labels at once.",
      LabelFormula::from([](const auto& c) { return share(c.hits, c.predicted); }));
}

/// tp / of several labels at once (fastai.metrics.RecallMulti).
Entry<Metric> recall_multi_metric() {
  return label_score_entry(
      "recall_multi",
      "The share of units of a class that were taken for it, over several labels at once.",
      LabelFormula::from([](const auto& c) { return share(c.hits, c.actual); }));
}

/// 2 tp / of several labels at once (fastai.metrics.F1ScoreMulti).
Entry<Metric> f1_multi_metric() {
  return label_score_entry(
      "f1_multi", "The harmonic mean of precision and recall, over several labels at once.",
      LabelFormula::from([](const auto& c) { return share(2 * c.hits, c.predicted + c.actual); }));
}

/// tp / of several labels at once (fastai.metrics.JaccardMulti).
Entry<Metric> jaccard_multi_metric() {
  return label_score_entry(
      "jaccard_multi",
      "Hits over units that are of a class or were taken for it, over several labels at once.",
      LabelFormula::from(
          [](const auto& c) { return share(c.hits, c.predicted + c.actual - c.hits); }));
}

}  // namespace ddptrain
