// Single samples of a run, and what follows from them.
#pragma once

#include <string>
#include <vector>

#include "report/report_run.h"

namespace ddptrain {

bool has_classes(const ReportRun& run);  // and samples
bool has_numbers(const ReportRun& run);

/// Samples whose probability lies in a bin: how many, their mean probability, the share that is
/// right.
struct ConfidenceBin {
  double count = 0, confidence = 0, accuracy = 0;
};

/// `bins` of equal width; those without samples have a count of 0.
std::vector<ConfidenceBin> confidence_bins(const std::vector<SampleOutcome>& samples, int bins);

/// Expected calibration error: sum of count / n * |accuracy - confidence| (Guo et al., 2017, On
/// calibration of modern neural networks, equation 3).
double calibration_error(const std::vector<ConfidenceBin>& bins);

/// Of two classes, a point for each threshold on the probability of class 1.
struct BinaryCurves {
  Points roc;  // true positive rate by false positive rate
  Points precision_recall;
  double area = 0;               // under the ROC curve
  double average_precision = 0;  // sum of (recall step) * precision, as scikit-learn has it
};

/// NaN where a class has no sample.
BinaryCurves binary_curves(const std::vector<SampleOutcome>& samples);

}  // namespace ddptrain
