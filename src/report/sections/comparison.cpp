// Metrics of several runs, and their mean and deviation over runs that differ only in seed.
#include <algorithm>

#include "base/mean.h"
#include "report/html.h"
#include "report/section.h"
#include "runs/run_recipe.h"

namespace ddptrain {
namespace {

std::vector<std::string> all_metrics(const ReportRuns& runs) {
  std::vector<std::string> names;
  for (const auto& run : runs)
    for (const auto& [name, value] : run.history.last)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

/// "0.912 ± 0.004".
std::string mean_html(const ReportRuns& runs, const std::vector<std::size_t>& group,
                      const std::string& metric) {
  std::vector<double> values;
  for (const auto i : group) values.push_back(value_named(runs[i].history.last, metric));
  const auto mean = mean_of(values);
  return number_html(mean.value) + " ± " + number_html(mean.deviation);
}

std::string seeds_html(const ReportRuns& runs, const std::vector<std::string>& metrics) {
  HtmlTable table{{"runs that differ only in seed", "runs"}, {}, {}};
  for (const auto& metric : metrics) table.head.push_back(name_html(metric));
  std::vector<RunOptions> options;
  for (const auto& run : runs) options.push_back(run.options);
  for (const auto& group : groups_by_seed(options)) {
    if (group.size() < 2) continue;
    std::string names;
    for (const auto i : group)
      names += (names.empty() ? "" : ", ") + name_html(runs[i].record.name);
    table.rows.push_back({names, std::to_string(group.size())});
    for (const auto& metric : metrics) table.rows.back().push_back(mean_html(runs, group, metric));
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
    table.rows.push_back({name_html(run.record.name)});
    for (const auto& metric : metrics)
      table.rows.back().push_back(number_html(value_named(run.history.last, metric)));
  }
  return to_html(table) + seeds_html(runs, metrics);
}

}  // namespace

Section comparison_section() { return {"comparison", "Metrics of the runs", comparison}; }

}  // namespace ddptrain
