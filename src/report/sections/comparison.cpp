// Metrics of several runs, and their mean and deviation over runs that differ only in seed.
#include <algorithm>

#include "base/mean.h"
#include "base/text.h"
#include "report/html.h"
#include "report/section.h"
#include "runs/run_scores.h"
#include "runs/seed_groups.h"

namespace ddptrain {
namespace {

std::vector<std::string> all_metrics(const ReportRuns& runs) {
  std::vector<std::string> names;
  for (const auto& run : runs)
    for (const auto& [name, value] : run.record.scores.values)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

/// "0.912 ± 0.004".
std::string mean_html(const ReportRuns& runs, const std::vector<std::size_t>& group,
                      const std::string& metric) {
  std::vector<double> values;
  for (const auto i : group) values.push_back(value_named(runs[i].record.scores.values, metric));
  const auto mean = mean_of(values);
  return number_html(mean.value) + " ± " + number_html(mean.deviation);
}

/// Of each group with two seeds or more.
std::string seeds_html(const ReportRuns& runs, const std::vector<std::string>& metrics) {
  HtmlTable table{{"runs that differ only in seed", "seeds"}, {}, {}};
  for (const auto& metric : metrics) table.head.push_back(name_html(metric));
  std::vector<const RunRecord*> records;
  for (const auto& run : runs) records.push_back(&run.record);
  for (const auto& group : seed_groups(records)) {
    if (group.seeds.size() < 2) continue;
    std::string names;
    for (const auto i : group.runs)
      names += (names.empty() ? "" : ", ") + name_html(runs[i].record.name);
    names += escaped(left_out_text(group, records));
    table.rows.push_back({names, escaped(join(group.seeds, ", "))});
    for (const auto& metric : metrics)
      table.rows.back().push_back(mean_html(runs, group.runs, metric));
  }
  return table.rows.empty() ? ""
                            : "<h3>Mean ± standard deviation over seeds</h3>\n" + to_html(table);
}

std::string comparison(const ReportRuns& runs) {
  const auto metrics = all_metrics(runs);
  if (runs.size() < 2 || metrics.empty()) return {};
  HtmlTable table{{"run", "weights"}, {}, {false, false}};
  for (const auto& metric : metrics) {
    table.head.push_back(name_html(metric));
    table.numeric.push_back(true);
  }
  for (const auto& run : runs) {
    table.rows.push_back({name_html(run.record.name), weights_html(run.record.scores.weights)});
    for (const auto& metric : metrics)
      table.rows.back().push_back(number_html(value_named(run.record.scores.values, metric)));
  }
  return to_html(table) + paragraph(kScoresRule) + seeds_html(runs, metrics);
}

}  // namespace

Section comparison_section() { return {"comparison", "Metrics of the runs", comparison}; }

}  // namespace ddptrain
