// Metrics of several labels at once: outputs [rows, labels], targets of zeros and ones.
#pragma once

#include "metrics/classes/class_scores.h"

namespace ddptrain {

struct LabelOptions {
  double threshold = 0.5;
  bool sigmoid = true;
  void fields(Fields& f);
};

enum class LabelAverage { macro, micro, weighted };
std::span<const std::string_view> names(LabelAverage);
Average average_of(LabelAverage average);

struct LabelScoreOptions {
  LabelOptions labels;
  LabelAverage average = LabelAverage::macro;
  void fields(Fields& f);
};

/// Which labels an output names: those above the threshold (fastai.metrics.accuracy_multi).
at::Tensor named_labels(const at::Tensor& output, const LabelOptions& options);

/// Targets as booleans in the output's shape; an Error where shapes differ.
at::Tensor true_labels(const at::Tensor& target, const at::Tensor& output);

/// Every label counts in the average, met or not (scikit-learn on an indicator matrix).
std::unique_ptr<Metric> make_label_score(std::string name, const LabelScoreOptions& options,
                                         ClassFormula formula);

}  // namespace ddptrain
