// Precision, recall and F1 of each class from a confusion matrix
// (sklearn.metrics.precision_recall_fscore_support, zero_division=0). Plain numbers.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "base/output/named_table.h"

namespace ddptrain {

/// Of one class, in units (rows, pixels): taken for it rightly, taken for it, truly of it.
struct ClassCounts {
  double hits = 0;
  double predicted = 0;
  double actual = 0;
};

/// a / b, and 0 where b is.
inline double share(double a, double b) { return b == 0 ? 0 : a / b; }

/// counts[true * classes + predicted] as counts of each class.
inline std::vector<ClassCounts> class_counts(const std::vector<double>& pairs) {
  const auto classes = static_cast<std::size_t>(std::llround(std::sqrt(pairs.size())));
  std::vector<ClassCounts> counts(classes);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto truth = i / classes;
    const auto guess = i % classes;
    counts[truth].actual += pairs[i];
    counts[guess].predicted += pairs[i];
    if (truth == guess) counts[truth].hits += pairs[i];
  }
  return counts;
}

/// Of a confusion matrix: the scores and the support of each class.
inline NamedTable class_report(const NamedTable& confusion, const std::string& file) {
  NamedTable scores{NamedTable::Kind::scores,
                    confusion.name,
                    file,
                    "class",
                    confusion.rows,
                    {"precision", "recall", "f1", "support"},
                    {}};
  scores.weights = confusion.weights;
  for (const auto& c : class_counts(confusion.cells))
    for (const double value : {share(c.hits, c.predicted), share(c.hits, c.actual),
                               share(2 * c.hits, c.predicted + c.actual), c.actual})
      scores.cells.push_back(value);
  return scores;
}

}  // namespace ddptrain
