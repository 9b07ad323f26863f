// The worst mistakes and the least certain samples, as an image, a text or a row.
#include "report/samples.h"

#include <algorithm>
#include <cmath>

#include "report/html.h"
#include "report/section.h"

namespace ddptrain {
namespace {

/// Those of which something can be shown, in an order.
std::vector<const ReportSample*> first_by(const ReportRun& run, SampleOrder order) {
  std::vector<const ReportSample*> named;
  for (const auto& sample : run.samples)
    if (!sample.name.empty()) named.push_back(&sample);
  return first_samples(std::move(named), order);
}

std::string class_html(const ReportRun& run, double label) {
  const auto index = static_cast<std::size_t>(label);
  return label >= 0 && index < run.classes.size() ? name_html(run.classes[index])
                                                  : number_html(label);
}

std::string percent(double share) { return number_html(std::round(1000 * share) / 10) + " %"; }

std::string verdict(const ReportRun& run, const ReportSample& sample) {
  if (!std::isfinite(sample.probability))
    return "true " + number_html(sample.truth) + ", predicted <b>" + number_html(sample.predicted) +
           "</b>, off by " + number_html(sample.predicted - sample.truth);
  return "true " + class_html(run, sample.truth) + ", predicted <b>" +
         class_html(run, sample.predicted) + "</b> at " + percent(sample.probability);
}

std::string card(const ReportRun& run, const ReportSample& sample) {
  std::string html = "<div class=\"card\">";
  if (!sample.png.empty())
    html += "<img alt=\"\" src=\"data:image/png;base64," + escaped(sample.png) + "\">";
  html += "<div>" + verdict(run, sample) + "</div><div class=\"quiet\">" + name_html(sample.name) +
          "</div>";
  if (sample.png.empty())
    for (const auto& [title, text] : sample.cells)
      html += "<div><span class=\"quiet\">" + name_html(title) + "</span> <bdi>" + escaped(text) +
              "</bdi></div>";
  return html + "</div>\n";
}

std::string cards(const ReportRun& run, const std::string& title,
                  const std::vector<const ReportSample*>& samples) {
  if (samples.empty()) return {};
  const bool images = std::any_of(samples.begin(), samples.end(),
                                  [](const auto* sample) { return !sample->png.empty(); });
  std::string html =
      "<h3>" + title + "</h3>\n<div class=\"cards" + std::string(images ? "" : " wide") + "\">\n";
  for (const auto* sample : samples) html += card(run, *sample);
  return html + "</div>\n";
}

std::string samples(const ReportRuns& runs) {
  if (runs.size() != 1 || runs[0].samples.empty()) return {};
  const auto& run = runs[0];
  const auto of = "<p>" + weights_html(run.samples_weights) + "</p>\n";
  if (has_numbers(run)) return of + cards(run, "Largest errors", first_by(run, by_error));
  return of + cards(run, "Worst mistakes", first_by(run, by_mistake)) +
         cards(run, "Least certain", first_by(run, by_certainty));
}

}  // namespace

Section samples_section() { return {"samples", "Samples", samples}; }

}  // namespace ddptrain
