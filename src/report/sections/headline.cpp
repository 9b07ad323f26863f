// How a run went, in one row of tiles; of several runs a row each.
#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "report/html.h"
#include "report/section.h"
#include "runs/run_scores.h"

namespace ddptrain {
namespace {

std::string tile(const std::string& value, const std::string& what) {
  return fmt::format("<div class=\"tile\"><b>{}</b><span>{}</span></div>\n", value, what);
}

std::string state_html(const ReportRun& run) {
  const auto text = escaped(status_text(run.record));
  return run.record.exit_code == 0 ? text : fmt::format("<span class=\"bad\">{}</span>", text);
}

std::string time_of(const ReportRun& run) {
  const auto text = to_text(duration_of(run.record));
  return text.empty() ? "–" : escaped(text);
}

std::string rate_of(const ReportRun& run) {
  return run.history.samples_per_second > 0 ? number_html(run.history.samples_per_second) : "–";
}

/// "cuda:0 (NVIDIA H100)" or how many ranks; empty where run.json does not say.
std::string device_of(const ReportRun& run) {
  for (const auto& [title, text] : run.record.facts)
    if (title == "device") return name_html(text);
  return {};
}

std::string tiles(const ReportRun& run) {
  std::string html = "<div class=\"tiles\">\n";
  const auto main = main_metric(run.record);
  const auto of = ", " + weights_html(run.record.scores.weights);
  if (!main.empty())
    html += tile(number_html(value_named(run.record.scores.values, main)), name_html(main) + of);
  std::size_t shown = 0;
  for (const auto& [name, value] : run.record.scores.values)
    if (name != main && !is_count(name) && ++shown <= 3)
      html += tile(number_html(value), name_html(name) + of);
  html += tile(state_html(run), "state");
  html += tile(number_html(run.history.step), "steps");
  if (!std::isnan(duration_of(run.record).seconds))
    html += tile(time_of(run), std::isnan(run.record.earlier.seconds) ? "from start to end"
                                                                      : "in all its starts");
  if (run.history.samples_per_second > 0) html += tile(rate_of(run), "samples per second");
  if (const auto device = device_of(run); !device.empty()) html += tile(device, "device");
  return html + "</div>\n";
}

std::string damages(const ReportRun& run) {
  std::string html;
  for (const auto& damage : run.damages)
    html += "<p class=\"bad\">" + name_html(run.record.name) + ": " + escaped(damage) + "</p>\n";
  if (run.history.last.empty())
    html += fmt::format("<p>{}: no evaluation was made.</p>\n", name_html(run.record.name));
  return html;
}

std::string rows(const ReportRuns& runs) {
  HtmlTable table{
      {"run", "state", "steps", "time", "samples/s"}, {}, {false, false, true, true, true}};
  for (const auto& run : runs)
    table.rows.push_back({name_html(run.record.name), state_html(run),
                          number_html(run.history.step), time_of(run), rate_of(run)});
  return to_html(table);
}

std::string headline(const ReportRuns& runs) {
  std::string html = runs.size() == 1 ? tiles(runs[0]) : rows(runs);
  for (const auto& run : runs) html += damages(run);
  return html;
}

}  // namespace

Section headline_section() { return {"summary", "Summary", headline}; }

}  // namespace ddptrain
