// What a run warned of.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/html.h"
#include "report/section.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostWarnings = 50;  // of a run

std::string warnings(const ReportRuns& runs) {
  std::string html;
  for (const auto& run : runs) {
    if (run.history.warnings.empty()) continue;
    if (runs.size() > 1) html += fmt::format("<h3>{}</h3>\n", name_html(run.record.name));
    html += "<ul>\n";
    for (std::size_t i = 0; i < std::min(run.history.warnings.size(), kMostWarnings); ++i)
      html += fmt::format("<li>{}</li>\n", escaped(shown(run.history.warnings[i], 1000)));
    html += "</ul>\n";
    if (run.history.warnings.size() > kMostWarnings)
      html += paragraph(
          fmt::format("{} more are in log.txt.", run.history.warnings.size() - kMostWarnings));
  }
  return html;
}

}  // namespace

Section warnings_section() { return {"warnings", "Warnings", warnings}; }

}  // namespace ddptrain
