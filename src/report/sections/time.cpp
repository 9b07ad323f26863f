// Where the time of a run went.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/text.h"
#include "report/html.h"
#include "report/section.h"

namespace ddptrain {
namespace {

double total_seconds(const NamedValues& phases) {
  double sum = 0;
  for (const auto& phase : phases) sum += phase.second;
  return sum;
}

std::string phases_table(NamedValues phases) {
  std::stable_sort(phases.begin(), phases.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  const double sum = total_seconds(phases);
  HtmlTable table{{"phase", "time", "share"}, {}, {false, true, true}};
  for (const auto& [name, seconds] : phases)
    if (seconds > 0)
      table.rows.push_back({name_html(name == "train" ? "the rest of training" : name),
                            escaped(format_seconds(seconds)), share_html(seconds / sum)});
  return to_html(table);
}

constexpr std::size_t kMostSteps = 20;

/// The steps after which a run that ended early continued: those before were made by earlier
/// starts.
std::string resumed_sentence(const std::vector<std::int64_t>& steps) {
  if (steps.empty()) return {};
  std::vector<std::string> shown_steps;
  for (std::size_t i = 0; i < std::min(steps.size(), kMostSteps); ++i)
    shown_steps.push_back(std::to_string(steps[i]));
  if (steps.size() > kMostSteps) shown_steps.emplace_back("...");
  return paragraph(fmt::format("Resumed {}, after step {}.", plural(std::ssize(steps), "time"),
                               join(shown_steps, ", ")));
}

std::string time_of_runs(const ReportRuns& runs) {
  std::string html;
  for (const auto& run : runs) {
    const double sum = total_seconds(run.history.phases);
    if (!std::isfinite(sum) || sum <= 0) continue;
    if (runs.size() > 1) html += fmt::format("<h3>{}</h3>\n", name_html(run.record.name));
    html += phases_table(run.history.phases) + resumed_sentence(run.history.resumed);
  }
  return html;
}

}  // namespace

Section time_section() { return {"time", "Time", time_of_runs}; }

}  // namespace ddptrain
