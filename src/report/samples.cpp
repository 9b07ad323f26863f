#include "report/samples.h"

#include <algorithm>
#include <cmath>

#include "metrics/scores/thresholds.h"

namespace ddptrain {
namespace {

bool is_right(const SampleOutcome& sample) { return sample.predicted == sample.truth; }

double of_class_one(const SampleOutcome& sample) {
  return sample.predicted == 1 ? sample.probability : 1 - sample.probability;
}

}  // namespace

bool has_classes(const ReportRun& run) {
  return std::any_of(run.samples.rows.begin(), run.samples.rows.end(),
                     [](const auto& sample) { return std::isfinite(sample.probability); });
}

bool has_numbers(const ReportRun& run) { return !run.samples.rows.empty() && !has_classes(run); }

std::vector<ConfidenceBin> confidence_bins(const std::vector<SampleOutcome>& samples, int bins) {
  std::vector<ConfidenceBin> all(static_cast<std::size_t>(bins));
  for (const auto& sample : samples) {
    if (!std::isfinite(sample.probability)) continue;
    const auto index = std::clamp(static_cast<int>(std::ceil(sample.probability * bins)) - 1, 0,
                                  bins - 1);  // (0, 1 / bins], as in the paper
    auto& bin = all[static_cast<std::size_t>(index)];
    bin.count += 1;
    bin.confidence += sample.probability;
    bin.accuracy += is_right(sample) ? 1 : 0;
  }
  for (auto& bin : all)
    if (bin.count > 0) bin.confidence /= bin.count, bin.accuracy /= bin.count;
  return all;
}

double calibration_error(const std::vector<ConfidenceBin>& bins) {
  double sum = 0, count = 0;
  for (const auto& bin : bins) {
    sum += bin.count * std::abs(bin.accuracy - bin.confidence);
    count += bin.count;
  }
  return sum / count;
}

BinaryCurves binary_curves(const std::vector<SampleOutcome>& samples) {
  Ranked ranked;
  for (const auto& sample : samples) {
    if (!std::isfinite(sample.probability)) continue;
    ranked.scores.push_back(of_class_one(sample));
    ranked.truths.push_back(sample.truth == 1);
  }
  const auto found = thresholds(ranked);
  const auto all = found.empty() ? Threshold{} : found.back();
  BinaryCurves curves;
  curves.roc = {{0}, {0}};
  for (const auto& [hits, misses] : found) {
    curves.roc.x.push_back(misses / all.misses);
    curves.roc.y.push_back(hits / all.hits);
    curves.precision_recall.x.push_back(hits / all.hits);
    curves.precision_recall.y.push_back(hits / (hits + misses));
  }
  curves.area = roc_auc(ranked);
  curves.average_precision = all.hits == 0 ? NAN : average_precision(ranked);
  return curves;
}

}  // namespace ddptrain
