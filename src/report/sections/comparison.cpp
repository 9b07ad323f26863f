// Metrics of several runs, and their mean and deviation over runs that differ only in seed.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "report/html.h"
#include "report/section.h"

namespace ddptrain {
namespace {

double last_value(const ReportRun& run, const std::string& name) {
  for (const auto& [metric, value] : run.last)
    if (metric == name) return value;
  return std::nan("");
}

std::vector<std::string> all_metrics(const ReportRuns& runs) {
  std::vector<std::string> names;
  for (const auto& run : runs)
    for (const auto& [name, value] : run.last)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

/// What the runs of a group have in common: all options but the seeds, and where results go.
ReportTexts without_seeds(const ReportRun& run) {
  ReportTexts kept;
  for (const auto& option : run.options)
    if (option.first != "seed" && option.first != "data_seed" && option.first != "name" &&
        !option.first.starts_with("output."))
      kept.push_back(option);
  return kept;
}

std::vector<ReportRuns> groups_of(const ReportRuns& runs) {
  std::vector<ReportTexts> kinds;
  std::vector<ReportRuns> groups;
  for (const auto& run : runs) {
    const auto kind = without_seeds(run);
    const auto found = std::find(kinds.begin(), kinds.end(), kind);
    const auto index = static_cast<std::size_t>(found - kinds.begin());
    if (found == kinds.end()) kinds.push_back(kind), groups.emplace_back();
    groups[index].push_back(run);
  }
  return groups;
}

/// "0.912 ± 0.004": the deviation of a sample, over n - 1.
std::string mean_text(const ReportRuns& runs, const std::string& metric) {
  double sum = 0, squares = 0;
  const auto count = static_cast<double>(runs.size());
  for (const auto& run : runs) sum += last_value(run, metric);
  const double mean = sum / count;
  for (const auto& run : runs) squares += std::pow(last_value(run, metric) - mean, 2);
  return number_html(mean) + " ± " + number_html(std::sqrt(squares / (count - 1)));
}

std::string seeds_html(const ReportRuns& runs, const std::vector<std::string>& metrics) {
  HtmlTable table{{"runs that differ only in seed", "runs"}, {}, {}};
  for (const auto& metric : metrics) table.head.push_back(name_html(metric));
  for (const auto& group : groups_of(runs)) {
    if (group.size() < 2) continue;
    std::string names;
    for (const auto& run : group) names += (names.empty() ? "" : ", ") + name_html(run.name);
    table.rows.push_back({names, std::to_string(group.size())});
    for (const auto& metric : metrics) table.rows.back().push_back(mean_text(group, metric));
  }
  return table.rows.empty() ? ""
                            : "<h3>Mean ± standard deviation over seeds</h3>\n" + to_html(table);
}

std::string comparison(const ReportRuns& runs) {
  const auto metrics = all_metrics(runs);
  if (runs.size() < 2 || metrics.empty()) return {};
  HtmlTable table{{"last evaluation"}, {}, {}};
  for (const auto& metric : metrics) table.head.push_back(name_html(metric));
  for (const auto& run : runs) {
    table.rows.push_back({name_html(run.name)});
    for (const auto& metric : metrics)
      table.rows.back().push_back(number_html(last_value(run, metric)));
  }
  return to_html(table) + seeds_html(runs, metrics);
}

}  // namespace

Section comparison_section() { return {"comparison", "Metrics of the runs", comparison}; }

}  // namespace ddptrain
