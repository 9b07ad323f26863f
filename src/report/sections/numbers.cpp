// Predicted against true numbers, and how the differences are spread.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/chart.h"
#include "report/html.h"
#include "report/samples.h"
#include "report/section.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostDots = 1500;  // of a run
constexpr int kBars = 20;

std::vector<const SampleOutcome*> known(const ReportRun& run) {
  std::vector<const SampleOutcome*> all;
  for (const auto& sample : run.samples.rows)
    if (std::isfinite(sample.truth) && std::isfinite(sample.predicted)) all.push_back(&sample);
  return all;
}

struct Dots {
  Points predicted, residual;
};

Dots dots_of(const std::vector<const SampleOutcome*>& samples) {
  Dots dots;
  const auto stride = (samples.size() + kMostDots - 1) / kMostDots;
  for (std::size_t i = 0; i < samples.size(); i += stride) {
    const auto& sample = *samples[i];
    dots.predicted.x.push_back(sample.truth);
    dots.predicted.y.push_back(sample.predicted);
    dots.residual.x.push_back(sample.predicted);
    dots.residual.y.push_back(sample.predicted - sample.truth);
  }
  return dots;
}

/// Counts of differences in bars of equal width, by the middle of each.
Points histogram(const std::vector<const SampleOutcome*>& samples) {
  double low = INFINITY, high = -INFINITY;
  for (const auto* sample : samples) {
    low = std::min(low, sample->predicted - sample->truth);
    high = std::max(high, sample->predicted - sample->truth);
  }
  if (!(high > low)) return {};
  Points counts;
  for (int i = 0; i < kBars; ++i) {
    counts.x.push_back(low + (i + 0.5) * (high - low) / kBars);
    counts.y.push_back(0);
  }
  for (const auto* sample : samples) {
    const auto share = (sample->predicted - sample->truth - low) / (high - low);
    counts.y[static_cast<std::size_t>(std::min(kBars - 1, static_cast<int>(share * kBars)))] += 1;
  }
  return counts;
}

Points diagonal(const std::vector<const SampleOutcome*>& samples) {
  const auto [low, high] =
      std::minmax_element(samples.begin(), samples.end(),
                          [](const auto* a, const auto* b) { return a->truth < b->truth; });
  return {{(*low)->truth, (*high)->truth}, {(*low)->truth, (*high)->truth}};
}

std::string numbers(const ReportRuns& runs) {
  Chart predicted{"predicted by true", "true", {}};
  Chart residual{"predicted minus true, by predicted", "predicted", {}};
  Chart spread{"samples by predicted minus true", "predicted minus true", {}};
  std::string weights;
  for (std::size_t r = 0; r < runs.size(); ++r) {
    if (!has_numbers(runs[r])) continue;
    const auto samples = known(runs[r]);
    if (samples.empty()) continue;
    const auto dots = dots_of(samples);
    weights += fmt::format("<p>{}: {}</p>\n", name_html(runs[r].record.name),
                           weights_html(runs[r].samples.weights));
    if (predicted.lines.empty())
      predicted.lines.push_back({"as it should be", diagonal(samples), 7, ChartLine::Look::dashed});
    predicted.lines.push_back({runs[r].record.name, dots.predicted, r, ChartLine::Look::dots});
    residual.lines.push_back({runs[r].record.name, dots.residual, r, ChartLine::Look::dots});
    spread.lines.push_back({runs[r].record.name, histogram(samples), r, ChartLine::Look::plain});
    if (samples.size() > kMostDots)
      predicted.note = fmt::format("of {}, every {}. is drawn",
                                   plural(static_cast<std::int64_t>(samples.size()), "sample"),
                                   (samples.size() + kMostDots - 1) / kMostDots);
  }
  if (predicted.lines.empty()) return {};
  return fmt::format(
      "{}<div class=\"charts\">\n"
      "{}{}{}</div>\n",
      weights, figure(predicted), figure(residual), figure(spread));
}

}  // namespace

Section numbers_section() { return {"numbers", "Predicted and true", numbers}; }

}  // namespace ddptrain
