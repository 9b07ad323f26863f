// Metrics of several labels at once: outputs [rows, labels], targets of zeros and ones.
#pragma once

#include <ATen/TensorOperators.h>

#include <functional>
#include <memory>
#include <string>

#include "metrics/classes/class_scores.h"

namespace ddptrain {

struct LabelOptions {
  double threshold = 0.5;
  bool sigmoid = true;
  void fields(Fields& f);
};

/// samples: the mean over rows of a row's own score.
enum class LabelAverage { macro, micro, weighted, samples };
std::span<const std::string_view> names(LabelAverage);
struct LabelScoreOptions {
  LabelOptions labels;
  LabelAverage average = LabelAverage::macro;
  void fields(Fields& f);
};

/// Which labels an output names: those above the threshold (fastai.metrics.accuracy_multi).
at::Tensor named_labels(const at::Tensor& output, const LabelOptions& options);

/// Targets as booleans in the output's shape; an Error where shapes differ.
at::Tensor true_labels(const at::Tensor& target, const at::Tensor& output);

/// ClassCounts of the labels of each row, doubles [rows].
struct RowCounts {
  at::Tensor hits, predicted, actual;
};

/// a / b of each element, and 0 where b is.
at::Tensor share(const at::Tensor& a, const at::Tensor& b);

/// A score of ClassCounts that is one of RowCounts as well.
struct LabelFormula {
  ClassFormula of_label;
  std::function<at::Tensor(const RowCounts&)> of_rows;

  /// From a generic function of either.
  template <class Formula>
  static LabelFormula from(Formula formula) {
    return {formula, formula};
  }
};

/// Every label counts in the average, met or not (scikit-learn on an indicator matrix,
/// zero_division=0).
std::unique_ptr<Metric> make_label_score(std::string name, const LabelScoreOptions& options,
                                         LabelFormula formula);
Entry<Metric> label_score_entry(const std::string& name, std::string doc,
                                const LabelFormula& formula);

}  // namespace ddptrain
