// The last value of each metric, and its best one.
#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "report/html.h"
#include "report/section.h"

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

std::string metrics(const ReportRuns& runs) {
  if (runs.size() != 1 || runs[0].history.last.empty()) return {};
  const auto& run = runs[0];
  HtmlTable table{{"metric", "last"}, {}, {}};
  const auto& best = run.record.best;
  const auto best_step = best ? static_cast<double>(best->step) : 0;
  if (best) table.head.push_back("at the best");
  for (std::size_t i = 0; i < std::min(run.history.last.size(), kMostMetrics); ++i) {
    const auto& [name, value] = run.history.last[i];
    table.rows.push_back({name_html(name), number_html(value)});
    if (best) table.rows.back().push_back(value_at(run, name, best_step));
  }
  auto html = to_html(table);
  if (best)
    html += "<p class=\"note\">The best by " + name_html(best->metric) + " is step " +
            number_html(best_step) + ".</p>\n";
  const auto unknown =
      std::count_if(run.history.last.begin(), run.history.last.end(),
                    [](const auto& metric) { return !std::isfinite(metric.second); });
  if (unknown > 0)
    html += paragraph(plural(unknown, "metric") + " of the last evaluation " +
                      (unknown == 1 ? "is" : "are") + " not a finite number.");
  if (run.history.last.size() > kMostMetrics)
    html += paragraph(std::to_string(run.history.last.size() - kMostMetrics) +
                      " more are in metrics.csv.");
  return html;
}

}  // namespace

Section metrics_section() { return {"metrics", "Metrics", metrics}; }

}  // namespace ddptrain
