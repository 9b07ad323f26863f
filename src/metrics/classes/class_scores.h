// Scores of classes from hits and counts, averaged as scikit-learn averages them
// (sklearn.metrics.precision_recall_fscore_support, zero_division=0).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "metrics/metric.h"
#include "metrics/scores/class_counts.h"

namespace ddptrain {

using ClassFormula = std::function<double(const ClassCounts&)>;

/// binary: the score of class `positive`; macro: the mean over classes; micro: the score of all
/// classes' counts together; weighted: the mean weighted by how many units truly are of a class.
enum class Average { binary, macro, micro, weighted };
std::span<const std::string_view> names(Average);

struct ClassScoreOptions {
  Average average = Average::binary;
  std::int64_t positive = 1;
  void fields(Fields& f);
};

/// Of single-label outputs [rows, classes, ...]. Classes that no unit is of or was taken for do not
/// count, as there. An Error (Exit::recipe) where `binary` meets more than two classes.
std::unique_ptr<Metric> make_class_score(std::string name, const ClassScoreOptions& options,
                                         const MetricContext& context, ClassFormula formula);
Entry<Metric> class_score_entry(const std::string& name, std::string doc,
                                const ClassFormula& formula);

/// One number from counts[true * classes + predicted] of the whole split; NaN without any unit.
using PairFormula = double (*)(const std::vector<double>& pairs);
Entry<Metric> pair_metric_entry(const std::string& name, std::string doc, PairFormula formula,
                                std::vector<std::string> traits);

/// Class 1 of two; an Error (Exit::recipe) naming `metric` where there are not two.
ClassCounts second_of_two(const std::vector<double>& pairs, const std::string& metric);

/// The mean of a formula over the classes that occur or were predicted; NaN where there is none.
double mean_over_met(const std::vector<ClassCounts>& classes, const ClassFormula& formula);

/// The average over `classes`; `average` is not binary.
double averaged(Average average, const std::vector<ClassCounts>& classes,
                const ClassFormula& formula);

}  // namespace ddptrain
