// Scores of a yes-or-no question at every threshold. Plain numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "metrics/scores/class_counts.h"

namespace ddptrain {

/// One yes-or-no question: the score of each unit and whether the answer is yes.
struct Ranked {
  std::vector<double> scores;
  std::vector<bool> truths;
};

/// How many units score at least as much as each distinct score, from the highest down.
struct Threshold {
  double hits = 0;    // of which the answer is yes
  double misses = 0;  // of which it is no
};

inline std::vector<Threshold> thresholds(const Ranked& ranked) {
  std::vector<std::size_t> order(ranked.scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return ranked.scores[a] > ranked.scores[b]; });
  std::vector<Threshold> found;
  Threshold now;
  for (std::size_t i = 0; i < order.size(); ++i) {
    ++(ranked.truths[order[i]] ? now.hits : now.misses);
    const bool last = i + 1 == order.size();
    if (last || ranked.scores[order[i + 1]] != ranked.scores[order[i]]) found.push_back(now);
  }
  return found;
}

inline bool has_nan(const Ranked& ranked) {
  return std::any_of(ranked.scores.begin(), ranked.scores.end(),
                     [](double score) { return std::isnan(score); });
}

/// Area under the ROC curve (sklearn.metrics.roc_auc_score); NaN where the answer is always the
/// same.
inline double roc_auc(const Ranked& ranked) {
  if (has_nan(ranked)) return std::numeric_limits<double>::quiet_NaN();
  double area = 0;
  Threshold before;
  for (const auto& now : thresholds(ranked)) {
    area += (now.misses - before.misses) * (now.hits + before.hits) / 2;
    before = now;
  }
  if (before.hits == 0 || before.misses == 0) return std::numeric_limits<double>::quiet_NaN();
  return area / (before.hits * before.misses);
}

/// Sum of (recall step) x precision over the thresholds (sklearn.metrics.average_precision_score).
inline double average_precision(const Ranked& ranked) {
  if (ranked.scores.empty() || has_nan(ranked)) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  Threshold before;
  for (const auto& now : thresholds(ranked)) {
    sum += (now.hits - before.hits) * now.hits / (now.hits + now.misses);
    before = now;
  }
  return share(sum, before.hits);
}

}  // namespace ddptrain
