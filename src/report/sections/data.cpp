// How many samples each split has, by class, and which were left out.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/html.h"
#include "report/section.h"
#include "runs/data_json.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostCounted = 1000;

std::string count_html(std::int64_t count) { return escaped(std::to_string(count)); }

std::string splits_table(const ReportRun& run) {
  HtmlTable table{{"split", "samples"}, {}, {}};
  for (const auto& split : run.data.splits)
    table.rows.push_back({name_html(split.name), count_html(split.samples)});
  return to_html(table);
}

/// A class in a row, with the number of its samples in each split.
std::string classes_table(const ReportRun& run) {
  HtmlTable table{{"class"}, {}, {}};
  std::vector<const CountedSplit*> counted;
  for (const auto& split : run.data.splits)
    if (split.counts.size() == run.data.classes.size() && !split.counts.empty()) {
      counted.push_back(&split);
      table.head.push_back(name_html(split.name));
    }
  if (counted.empty()) return {};
  const auto count = std::min(run.data.classes.size(), kMostCounted);
  for (std::size_t i = 0; i < count; ++i) {
    table.rows.push_back({name_html(run.data.classes[i])});
    for (const auto* split : counted) table.rows.back().push_back(count_html(split->counts[i]));
  }
  auto html = to_html(table);
  if (run.data.classes.size() > count)
    html += paragraph(
        fmt::format("and {} more classes in {}", run.data.classes.size() - count, kDataJson));
  return fmt::format(
      "<details{}><summary>samples of each class</summary>\n"
      "{}</details>\n",
      count <= 20 ? " open" : "", html);
}

/// Those that policy.on_bad_sample: skip left out say so in warnings.
std::string left_out(const ReportRun& run) {
  const auto& warnings = run.history.warnings;
  const auto count = std::count_if(warnings.begin(), warnings.end(),
                                   [](const auto& text) { return text.starts_with("left out: "); });
  return count == 0 ? ""
                    : paragraph(fmt::format(
                          "{} could not be read and {} left out; the warnings name them.",
                          plural(count, "sample"), count == 1 ? "was" : "were"));
}

std::string data(const ReportRuns& runs) {
  std::string html;
  for (const auto& run : runs) {
    if (run.data.splits.empty()) continue;
    if (runs.size() > 1) html += fmt::format("<h3>{}</h3>\n", name_html(run.record.name));
    html += splits_table(run) + classes_table(run) + left_out(run);
  }
  return html;
}

}  // namespace

Section data_section() { return {"data", "Data", data}; }

}  // namespace ddptrain
