// The last value of each metric, and its best one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/html.h"
#include "report/section.h"
#include "runs/metrics_csv.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostMetrics = 200;

std::string value_at(const ReportRun& run, const std::string& name, double step) {
  for (const auto& series : run.history.evaluated) {
    if (series.name != name) continue;
    for (std::size_t i = 0; i < series.points.x.size(); ++i)
      if (series.points.x[i] == step) return number_html(series.points.y[i]);
  }
  return "–";
}

std::string test_table(const ReportRun& run) {
  if (run.history.test.empty()) return {};
  HtmlTable table{{"test split", weights_html(run.history.test_weights)}, {}, {}};
  for (const auto& [name, value] : run.history.test)
    table.rows.push_back({name_html(name), number_html(value)});
  return to_html(table);
}

HtmlTable metric_table(const ReportRun& run) {
  const auto& best = run.record.best;
  const auto last_step = run.history.last_step;
  const bool shows_best = best && best->step != last_step;
  HtmlTable table{{"metric"}, {}, {}};
  if (shows_best) table.head.push_back(fmt::format("best, step {}", best->step));
  table.head.push_back((best && !shows_best ? "best and last, step " : "last, step ") +
                       std::to_string(last_step));
  for (std::size_t i = 0; i < std::min(run.history.last.size(), kMostMetrics); ++i) {
    const auto& [name, value] = run.history.last[i];
    table.rows.push_back({name_html(name)});
    if (shows_best)
      table.rows.back().push_back(value_at(run, name, static_cast<double>(best->step)));
    table.rows.back().push_back(number_html(value));
  }
  return table;
}

std::string metrics(const ReportRuns& runs) {
  if (runs.size() != 1 || runs[0].history.last.empty()) return {};
  const auto& run = runs[0];
  auto html = to_html(metric_table(run));
  if (const auto& best = run.record.best)
    html +=
        fmt::format("<p class=\"note\">The best by {}{} is better).</p>\n", name_html(best->metric),
                    best->mode == BestMode::max ? " (larger" : " (smaller");
  html += test_table(run);
  const auto unknown =
      std::count_if(run.history.last.begin(), run.history.last.end(),
                    [](const auto& metric) { return !std::isfinite(metric.second); });
  if (unknown > 0)
    html += paragraph(fmt::format("{} of the last evaluation {} not a finite number.",
                                  plural(unknown, "metric"), unknown == 1 ? "is" : "are"));
  if (run.history.last.size() > kMostMetrics)
    html += paragraph(
        fmt::format("{} more are in {}.", run.history.last.size() - kMostMetrics, kMetricsCsv));
  return html;
}

}  // namespace

Section metrics_section() { return {"metrics", "Metrics", metrics}; }

}  // namespace ddptrain
