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
    if (runs.size() > 1) html += "<h3>" + name_html(run.record.name) + "</h3>\n";
    html += "<ul>\n";
    for (std::size_t i = 0; i < std::min(run.history.warnings.size(), kMostWarnings); ++i)
      html += "<li>" + escaped(shown(run.history.warnings[i], 1000)) + "</li>\n";
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
