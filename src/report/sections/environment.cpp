// Where and with what a run was made.
#include <algorithm>

#include "report/html.h"
#include "report/section.h"

namespace ddptrain {
namespace {

std::string fact(const ReportRun& run, const std::string& title) {
  for (const auto& [name, value] : run.record.facts)
    if (name == title) return name_html(value);
  return "–";
}

std::string environment(const ReportRuns& runs) {
  std::vector<std::string> titles;
  for (const auto& run : runs)
    for (const auto& each : run.record.facts)
      if (std::find(titles.begin(), titles.end(), each.first) == titles.end())
        titles.push_back(each.first);
  if (titles.empty()) return {};
  HtmlTable table{{"run"}, {}, std::vector<bool>(runs.size() + 1, false)};
  for (const auto& run : runs) table.head.push_back(name_html(run.record.name));
  for (const auto& title : titles) {
    table.rows.push_back({escaped(title)});
    for (const auto& run : runs) table.rows.back().push_back(fact(run, title));
  }
  return to_html(table);
}

}  // namespace

Section environment_section() { return {"environment", "Environment", environment}; }

}  // namespace ddptrain
