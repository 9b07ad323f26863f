// The worst mistakes and the least certain samples, as an image, a text or a row.
#include "report/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/html.h"
#include "report/section.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostImages = 700'000;  // bytes of all, in Base64

/// Those of which something can be shown.
std::vector<const SampleOutcome*> named(const SamplesFile& file) {
  std::vector<const SampleOutcome*> samples;
  for (const auto& sample : file.rows)
    if (const auto shown = file.shown.find(sample.index);
        shown != file.shown.end() && !shown->second.name.empty())
      samples.push_back(&sample);
  return samples;
}

/// The images that a page has room for, by the index of their sample.
std::map<std::int64_t, std::string> images_of(const SamplesFile& file) {
  std::map<std::int64_t, std::string> images;
  std::size_t bytes = 0;
  for (const auto* sample : named(file)) {
    const auto& png = file.shown.at(sample->index).png;
    bytes += png.size();
    if (!png.empty() && bytes <= kMostImages) images.emplace(sample->index, png);
  }
  return images;
}

std::string class_html(const ReportRun& run, double label) {
  const auto index = static_cast<std::size_t>(label);
  return label >= 0 && index < run.samples.classes.size() ? name_html(run.samples.classes[index])
                                                          : number_html(label);
}

std::string percent(double share) { return number_html(std::round(1000 * share) / 10) + " %"; }

std::string verdict(const ReportRun& run, const SampleOutcome& sample) {
  if (!std::isfinite(sample.probability))
    return fmt::format("true {}, predicted <b>{}</b>, off by {}", number_html(sample.truth),
                       number_html(sample.predicted), number_html(sample.predicted - sample.truth));
  return fmt::format("true {}, predicted <b>{}</b> at {}", class_html(run, sample.truth),
                     class_html(run, sample.predicted), percent(sample.probability));
}

std::string card(const ReportRun& run, const SampleOutcome& sample, const std::string& png) {
  const auto& shown = run.samples.shown.at(sample.index);
  std::string html = "<div class=\"card\">";
  if (!png.empty()) html += "<img alt=\"\" src=\"data:image/png;base64," + escaped(png) + "\">";
  html += fmt::format("<div>{}</div><div class=\"quiet\">{}</div>", verdict(run, sample),
                      name_html(shown.name));
  if (png.empty())
    for (const auto& [title, text] : shown.cells)
      html += fmt::format("<div><span class=\"quiet\">{}</span> <bdi>{}</bdi></div>",
                          name_html(title), escaped(text));
  return html + "</div>\n";
}

/// The first samples of an order.
std::string cards(const ReportRun& run, const std::string& title, SampleOrder order) {
  const auto samples = first_samples(named(run.samples), order);
  if (samples.empty()) return {};
  auto images = images_of(run.samples);
  const bool any = std::any_of(samples.begin(), samples.end(),
                               [&](const auto* sample) { return images.contains(sample->index); });
  std::string html = fmt::format(
      "<h3>{}</h3>\n"
      "<div class=\"cards{}\">\n",
      title, any ? "" : " wide");
  for (const auto* sample : samples) html += card(run, *sample, images[sample->index]);
  return html + "</div>\n";
}

std::string samples(const ReportRuns& runs) {
  if (runs.size() != 1 || runs[0].samples.rows.empty()) return {};
  const auto& run = runs[0];
  const auto of = fmt::format("<p>{}</p>\n", weights_html(run.samples.weights));
  if (has_numbers(run)) return of + cards(run, "Largest errors", by_error);
  return of + cards(run, "Worst mistakes", by_mistake) + cards(run, "Least certain", by_certainty);
}

}  // namespace

Section samples_section() { return {"samples", "Samples", samples}; }

}  // namespace ddptrain
