// What differs in the recipes of several runs.
#include <fmt/format.h>

#include <algorithm>

#include "report/html.h"
#include "report/section.h"
#include "runs/run_recipe.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostDifferences = 200;

std::string differences(const ReportRuns& runs) {
  if (runs.size() < 2) return {};
  std::vector<RunOptions> options;
  HtmlTable table{{"option"}, {}, std::vector<bool>(runs.size() + 1, false)};
  for (const auto& run : runs) {
    options.push_back(run.record.options);
    table.head.push_back(name_html(run.record.name));
  }
  const auto keys = differing_options(options);
  if (keys.empty()) return paragraph("The recipes are the same.");
  for (std::size_t i = 0; i < std::min(keys.size(), kMostDifferences); ++i) {
    table.rows.push_back({fmt::format("<code>{}</code>", name_html(keys[i]))});
    for (const auto& of_run : options) {
      const auto value = option_value(of_run, keys[i]);
      table.rows.back().push_back(value.empty() ? "–" : name_html(value));
    }
  }
  auto html = to_html(table);
  if (keys.size() > kMostDifferences)
    html += paragraph(fmt::format("{} more options differ.", keys.size() - kMostDifferences));
  return html;
}

}  // namespace

Section differences_section() {
  return {"differences", "What differs in the recipes", differences};
}

}  // namespace ddptrain
