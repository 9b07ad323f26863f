// What differs in the recipes of several runs.
#include <algorithm>
#include <map>

#include "report/html.h"
#include "report/section.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostDifferences = 200;

std::vector<std::string> all_options(const ReportRuns& runs) {
  std::vector<std::string> keys;
  std::map<std::string, bool> seen;
  for (const auto& run : runs)
    for (const auto& [key, value] : run.options)
      if (!std::exchange(seen[key], true)) keys.push_back(key);
  return keys;
}

std::string differences(const ReportRuns& runs) {
  if (runs.size() < 2) return {};
  std::vector<std::map<std::string, std::string>> options;
  HtmlTable table{{"option"}, {}, std::vector<bool>(runs.size() + 1, false)};
  for (const auto& run : runs) {
    options.emplace_back(run.options.begin(), run.options.end());
    table.head.push_back(name_html(run.name));
  }
  std::size_t count = 0;
  for (const auto& key : all_options(runs)) {
    std::vector<std::string> cells{"<code>" + name_html(key) + "</code>"};
    bool differs = false;
    for (auto& of_run : options) {
      const auto value = of_run.find(key);
      cells.push_back(value == of_run.end() ? "–" : name_html(value->second));
      differs = differs || cells.back() != cells[1];
    }
    if (differs && ++count <= kMostDifferences) table.rows.push_back(std::move(cells));
  }
  if (count == 0) return paragraph("The recipes are the same.");
  auto html = to_html(table);
  if (count > kMostDifferences)
    html += paragraph(std::to_string(count - kMostDifferences) + " more options differ.");
  return html;
}

}  // namespace

Section differences_section() {
  return {"differences", "What differs in the recipes", differences};
}

}  // namespace ddptrain
