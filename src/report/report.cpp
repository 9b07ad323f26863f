#include "report/report.h"

#include <fmt/format.h>

#include "base/base64.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/version.h"
#include "report/assets.h"
#include "report/html.h"
#include "report/section.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostRunsOfSweep = 8;  // colors of a chart

/// The source expression of a content security policy for this very text.
std::string hash_source(const Asset& asset) {
  const std::string hex(asset.sha256);
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return fmt::format("'sha256-{}'", base64(bytes));
}

std::string policy() {
  return "default-src 'none'; style-src " + hash_source(report_style()) + "; script-src " +
         hash_source(report_script()) + "; img-src data:; base-uri 'none'; form-action 'none'";
}

std::string head(const std::string& title) {
  return fmt::format(
      "<!DOCTYPE html>\n"
      "<html lang=\"en\">\n"
      "<head>\n"
      "<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<title>{}</title>\n"
      "<style>{}</style>\n"
      "</head>\n"
      "<body>\n",
      policy(), escaped(title), report_style().text);
}

/// A page: its title, and its sections so far.
struct Page {
  std::string title;
  std::string navigation;
  std::string content;
};

/// Sections with something to show, of runs or of a sweep.
template <class SectionOf, class Source>
void add_sections(Page& page, const std::vector<SectionOf>& sections, const Source& source) {
  for (const auto& section : sections) {
    const auto html = section.html(source);
    if (html.empty()) continue;
    const std::string id = section.id;
    page.navigation += fmt::format("<a href=\"#{}\">{}</a> ", id, section.title);
    page.content += fmt::format(
        "<section id=\"{}\">\n"
        "<h2>{}</h2>\n"
        "{}</section>\n",
        id, section.title, html);
  }
}

Page page_of_runs(const std::vector<std::string>& folders) {
  ReportRuns runs;
  for (const auto& folder : folders) runs.push_back(read_report_run(folder));
  Page page{runs.size() == 1 ? runs[0].record.name : fmt::format("{} runs", runs.size()), {}, {}};
  add_sections(page, sections(), runs);
  return page;
}

/// The runs of the best trials, at most as many as there are colors.
ReportRuns best_runs(const SweepResults& sweep) {
  ReportRuns runs;
  for (const auto& trial : sweep.trials)
    for (const auto& run : trial.runs) {
      if (runs.size() == kMostRunsOfSweep) return runs;
      const auto folder = sweep.folder + "/" + run;
      if (is_run(folder)) runs.push_back(read_report_run(folder));
    }
  return runs;
}

Page page_of_sweep(const std::string& folder) {
  const auto sweep = read_sweep_results(folder);
  Page page{sweep.name, {}, {}};
  add_sections(page, sweep_sections(), sweep);
  const auto runs = best_runs(sweep);
  if (runs.empty()) return page;
  if (runs.size() > 1)
    page.content += paragraph(
        fmt::format("The sections below are of {} runs, those of the best trials.", runs.size()));
  add_sections(page, sections(), runs);
  return page;
}

std::string body(const Page& page) {
  return fmt::format(
      "<header><h1>{}</h1>\n"
      "<nav>{}</nav></header>\n"
      "<main>\n"
      "{}</main>\n"
      "<footer class=\"quiet\"><p>Written by ddptrain {}.</p></footer>\n",
      name_html(page.title), page.navigation, page.content, escaped(version()));
}

}  // namespace

std::string report_html(const std::vector<std::string>& folders) {
  const bool sweep = folders.size() == 1 && is_sweep(folders[0]);
  const auto page = sweep ? page_of_sweep(folders[0]) : page_of_runs(folders);
  return fmt::format("{}{}<script>{}</script>\n</body>\n</html>\n", head(page.title), body(page),
                     report_script().text);
}

void write_report(const std::string& folder) {
  try {
    write_atomically(folder + "/report.html", report_html({folder}));
  } catch (const std::exception& error) {
    log::warning("no report.html was written: {}", error.what());
  }
}

}  // namespace ddptrain
