#include "report/samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

namespace ddptrain {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostImages = 700'000;  // bytes of all, in Base64

double number_in(const Json& row, std::size_t i) {
  return row[i].is_number() ? row[i].get<double>() : std::numeric_limits<double>::quiet_NaN();
}

void show(ReportSample& sample, const Json& json, std::size_t& image_bytes) {
  sample.name = json.value("name", std::string());
  for (const auto& cell : json.value("cells", Json::array()))
    sample.cells.emplace_back(cell.at(0).get<std::string>(), cell.at(1).get<std::string>());
  auto png = json.value("png", std::string());
  image_bytes += png.size();
  if (image_bytes <= kMostImages) sample.png = std::move(png);
}

void take_samples(ReportRun& run, const Json& json) {
  const auto shown = json.value("shown", Json::object());
  std::size_t image_bytes = 0;
  for (const auto& row : json.at("rows")) {
    if (row.size() != 6) continue;
    ReportSample sample{number_in(row, 1),
                        number_in(row, 2),
                        number_in(row, 3),
                        number_in(row, 4),
                        number_in(row, 5),
                        {},
                        {},
                        {}};
    if (const auto found = shown.find(row[0].dump()); found != shown.end())
      show(sample, *found, image_bytes);
    run.samples.push_back(std::move(sample));
  }
  run.samples_of = json.value("of", 0.0);
  run.classes = json.value("classes", std::vector<std::string>());
  run.samples_weights = {json.value("weights", std::string("last evaluation")),
                         json.value("step", std::int64_t{-1})};
}

bool is_right(const ReportSample& sample) { return sample.predicted == sample.truth; }

double of_class_one(const ReportSample& sample) {
  return sample.predicted == 1 ? sample.probability : 1 - sample.probability;
}

}  // namespace

void add_samples(ReportRun& run, const std::string& text) {
  try {
    take_samples(run, Json::parse(text));
  } catch (const nlohmann::json::exception&) {
    run.samples.clear();
    run.damages.emplace_back("samples.json cannot be read");
  }
}

bool has_classes(const ReportRun& run) {
  return std::any_of(run.samples.begin(), run.samples.end(),
                     [](const auto& sample) { return std::isfinite(sample.probability); });
}

bool has_numbers(const ReportRun& run) { return !run.samples.empty() && !has_classes(run); }

std::vector<ConfidenceBin> confidence_bins(const std::vector<ReportSample>& samples, int bins) {
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

BinaryCurves binary_curves(const std::vector<ReportSample>& samples) {
  std::vector<std::pair<double, bool>> scores;
  for (const auto& sample : samples)
    if (std::isfinite(sample.probability))
      scores.emplace_back(of_class_one(sample), sample.truth == 1);
  std::sort(scores.begin(), scores.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  const auto positives = static_cast<double>(
      std::count_if(scores.begin(), scores.end(), [](const auto& score) { return score.second; }));
  const auto negatives = static_cast<double>(scores.size()) - positives;
  BinaryCurves curves;
  curves.roc = {{0}, {0}};
  double hits = 0, misses = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    (scores[i].second ? hits : misses) += 1;
    if (i + 1 < scores.size() && scores[i + 1].first == scores[i].first) continue;
    const double recall = hits / positives, fall_out = misses / negatives;
    const double before = curves.precision_recall.x.empty() ? 0 : curves.precision_recall.x.back();
    curves.area += (fall_out - curves.roc.x.back()) * (recall + curves.roc.y.back()) / 2;
    curves.average_precision += (recall - before) * hits / (hits + misses);
    curves.roc.x.push_back(fall_out);
    curves.roc.y.push_back(recall);
    curves.precision_recall.x.push_back(recall);
    curves.precision_recall.y.push_back(hits / (hits + misses));
  }
  return curves;
}

}  // namespace ddptrain
