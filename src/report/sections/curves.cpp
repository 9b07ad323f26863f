// Curves of loss, metrics, learning rate and gradient norm: what shares a name shares a chart.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/chart.h"
#include "report/html.h"
#include "report/section.h"
#include "runs/events_jsonl.h"
#include "runs/metrics_csv.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostCharts = 24;
constexpr std::size_t kEnoughToSmooth = 20;  // points

struct Curve {
  const ReportRun* run;
  std::size_t of_run;
  const RunCurve* series;
  bool per_step;
};

struct Group {
  std::string name;  // "loss" of "train/loss" and "valid/loss"
  std::vector<Curve> curves;
};

/// "train/gradient_norm/3" and "valid/accuracy/cat" are of the charts "gradient_norm/*",
/// "accuracy/*".
std::string chart_name(const std::string& series) {
  const auto parts = split(series, '/');
  if (parts.size() < 2) return series;
  return parts.size() == 2 ? parts[1] : parts[1] + "/*";
}

std::vector<Group> groups_of_curves(const ReportRuns& runs) {
  std::vector<Group> groups;
  const auto add = [&](const Curve& curve) {
    if (is_count(curve.series->name)) return;
    const auto name = chart_name(curve.series->name);
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const auto& group) { return group.name == name; });
    if (found == groups.end()) found = groups.insert(found, {name, {}});
    found->curves.push_back(curve);
  };
  for (std::size_t i = 0; i < runs.size(); ++i) {
    for (const auto& series : runs[i].history.steps) add({&runs[i], i, &series, true});
    for (const auto& series : runs[i].history.evaluated) add({&runs[i], i, &series, false});
  }
  return groups;
}

/// The loss and what is evaluated come first, then what only training has.
std::size_t order_of(const Group& group) {
  if (group.name == "loss") return 0;
  const bool evaluated = std::any_of(group.curves.begin(), group.curves.end(),
                                     [](const auto& curve) { return !curve.per_step; });
  if (evaluated) return group.name.ends_with("/*") ? 2 : 1;
  return 3;
}

std::string curve_name(const Curve& curve, bool several) {
  return several ? curve.run->record.name + " " + curve.series->name : curve.series->name;
}

/// Steps are noisy: raw and smoothed, unless each is what was set (a learning rate) or few.
void add_curve(Chart& chart, const Curve& curve, bool several, std::size_t color) {
  const auto& points = curve.series->points;
  const auto name = curve_name(curve, several);
  const bool noisy = curve.per_step && points.x.size() >= kEnoughToSmooth &&
                     (curve.series->name == "train/loss" ||
                      curve.series->name.starts_with("train/gradient_norm") ||
                      curve.series->name == "samples_per_second");
  if (noisy && !several)
    chart.lines.push_back({name + ", each", points, color, ChartLine::Look::raw});
  const bool behind = several && curve.per_step && chart.title == "loss";
  const auto look = behind  ? ChartLine::Look::dashed
                    : noisy ? ChartLine::Look::smooth
                            : ChartLine::Look::plain;
  chart.lines.push_back(
      {noisy ? name + ", smoothed" : name, noisy ? smoothed(points) : points, color, look});
}

std::size_t count_unknown(const Points& points) {
  return static_cast<std::size_t>(
      std::count_if(points.y.begin(), points.y.end(), [](double y) { return !std::isfinite(y); }));
}

std::string chart_of(const Group& group, bool several) {
  Chart chart{group.name, "step", {}};
  std::size_t unknown = 0;
  for (std::size_t i = 0; i < group.curves.size(); ++i) {
    const auto& curve = group.curves[i];
    unknown += count_unknown(curve.series->points);
    add_curve(chart, curve, several, several ? curve.of_run : i);
  }
  if (unknown > 0)
    chart.note =
        plural(static_cast<std::int64_t>(unknown), "value") + " not shown: not a finite number";
  return figure(chart);
}

/// What a run only logs is a curve from two points on; of what it evaluates one is a result.
bool is_drawn(const Group& group) {
  return std::any_of(group.curves.begin(), group.curves.end(), [](const auto& curve) {
    return !curve.per_step || curve.series->points.x.size() > 1;
  });
}

std::string curves(const ReportRuns& runs) {
  auto groups = groups_of_curves(runs);
  std::erase_if(groups, [](const auto& group) { return !is_drawn(group); });
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return order_of(a) < order_of(b); });
  std::string html;
  for (std::size_t i = 0; i < std::min(groups.size(), kMostCharts); ++i)
    html += chart_of(groups[i], runs.size() > 1);
  if (html.empty()) return {};
  html = fmt::format("<div class=\"charts\">\n{}</div>\n", html);
  if (groups.size() > kMostCharts)
    html += paragraph(fmt::format("{} more curves are in {} and {}.", groups.size() - kMostCharts,
                                  kMetricsCsv, kEventsJsonl));
  return html;
}

}  // namespace

Section curves_section() { return {"curves", "Curves", curves}; }

}  // namespace ddptrain
