// 1 - accuracy (sklearn.metrics.hamming_loss of single labels).
#include "metrics/classes/class_scores.h"
#include "metrics/metric.h"

namespace ddptrain {
namespace {

double hamming_loss(const std::vector<double>& pairs) {
  double all = 0;
  double hits = 0;
  for (const auto& c : class_counts(pairs)) {
    all += c.actual;
    hits += c.hits;
  }
  return (all - hits) / all;
}

}  // namespace

Entry<Metric> hamming_loss_metric() {
  return pair_metric_entry("hamming_loss", "Share of units taken for a wrong class.", hamming_loss,
                           {"smaller_is_better", "at_most_1", "takes_class", "takes_mask"});
}

}  // namespace ddptrain
