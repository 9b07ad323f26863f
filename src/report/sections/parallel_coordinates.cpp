// Each trial of a sweep as a line across axes: one for each option, the last for the metric.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/output/table_text.h"
#include "base/text.h"
#include "report/chart.h"
#include "report/html.h"
#include "report/section.h"
#include "report/svg.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostLines = 1000;
constexpr std::size_t kMostValues = 8;  // of an axis with a place for each value
constexpr double kWideRange = 50;       // from which numbers are placed by their logarithm
constexpr double kAxisHeight = 380, kAbove = 56, kBelow = 20, kSide = 80;  // around the axes
constexpr int kShades = 5;

/// Where trials cross an axis, 0 at the bottom to 1 at the top, and what is written next to it.
struct Axis {
  std::string title;
  std::vector<double> places;
  std::vector<std::pair<double, std::string>> labels;
};

double place_of(std::size_t index, std::size_t count) {
  return count < 2 ? 0.5 : static_cast<double>(index) / static_cast<double>(count - 1);
}

/// A place for each value, evenly.
Axis even_axis(const std::string& title, const std::vector<std::string>& values,
               const std::vector<std::string>& order) {
  Axis axis{title, {}, {}};
  for (std::size_t i = 0; i < order.size(); ++i)
    axis.labels.emplace_back(place_of(i, order.size()), order[i]);
  for (const auto& value : values) {
    const auto found = std::find(order.begin(), order.end(), value);
    axis.places.push_back(place_of(static_cast<std::size_t>(found - order.begin()), order.size()));
  }
  return axis;
}

/// Numbers on a line, by their logarithm where they span decades.
Axis number_axis(const std::string& title, const std::vector<double>& values) {
  const auto [least, largest] = std::minmax_element(values.begin(), values.end());
  double low = *least, high = *largest;
  const bool log = low > 0 && high / low >= kWideRange;
  if (high == low) low -= std::abs(low) / 2 + 1, high += std::abs(high) / 2 + 1;
  const auto along = [=](double value) {
    return log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  };
  Axis axis{title, {}, {}};
  for (const double value : values) axis.places.push_back(along(value));
  if (log)
    for (double power = std::ceil(std::log10(low)); std::pow(10, power) <= high; ++power)
      axis.labels.emplace_back(along(std::pow(10, power)), short_number(std::pow(10, power)));
  else
    for (const double tick : ticks(low, high, 5))
      axis.labels.emplace_back(along(tick), short_number(tick));
  return axis;
}

/// The different values in order of the trials, or of their size where all are numbers.
std::vector<std::string> different(const std::vector<const SweepTrialResult*>& trials,
                                   std::size_t key, bool numbers) {
  auto ordered = trials;
  std::stable_sort(ordered.begin(), ordered.end(), [&](const auto* a, const auto* b) {
    if (numbers) return *parse_number(a->values[key]) < *parse_number(b->values[key]);
    return a->number < b->number;
  });
  std::vector<std::string> values;
  for (const auto* trial : ordered)
    if (std::find(values.begin(), values.end(), trial->values[key]) == values.end())
      values.push_back(trial->values[key]);
  return values;
}

Axis axis_of(const SweepResults& sweep, const std::vector<const SweepTrialResult*>& trials,
             std::size_t key) {
  std::vector<std::string> values;
  std::vector<double> numbers;
  for (const auto* trial : trials) {
    values.push_back(trial->values[key]);
    const auto number = parse_number(values.back());
    if (number && std::isfinite(*number)) numbers.push_back(*number);
  }
  const bool all_numbers = numbers.size() == values.size();
  const auto order = different(trials, key, all_numbers);
  return all_numbers && order.size() > kMostValues ? number_axis(sweep.keys[key], numbers)
                                                   : even_axis(sweep.keys[key], values, order);
}

std::vector<Axis> axes_of(const SweepResults& sweep,
                          const std::vector<const SweepTrialResult*>& trials) {
  std::vector<Axis> axes;
  for (std::size_t key = 0; key < sweep.keys.size(); ++key)
    axes.push_back(axis_of(sweep, trials, key));
  std::vector<double> values;
  for (const auto* trial : trials) values.push_back(trial->value);
  axes.push_back(number_axis(sweep.metric, values));
  return axes;
}

double height_of(double place) {
  return kAxisHeight - kBelow - place * (kAxisHeight - kAbove - kBelow);
}

/// The end of a name is more informative than its beginning.
std::string last_of(const std::string& name, std::size_t most) {
  return display_width(name) <= most ? shown(name)
                                     : "…" + shown(name.substr(name.size() - (most - 1)));
}

std::string axis_svg(const Axis& axis, double x, std::size_t index, double spacing) {
  const auto longest = static_cast<std::size_t>(2 * spacing / 8);  // two rows of titles
  std::string svg = fmt::format(
      R"(<path class="axis" d="{}V{:.1f}"/>{})", svg_step('M', x, height_of(1)), height_of(0),
      svg_text(x, index % 2 == 0 ? 16 : 34, "tx title", last_of(axis.title, longest)));
  for (const auto& [place, label] : axis.labels)
    svg += svg_text(x + 6, height_of(place) + 4, "value",
                    one_line(label, static_cast<std::size_t>(spacing / 8)));
  return svg;
}

/// The best is the first; of the others, better ones are stronger.
std::string shade_of(std::size_t rank, std::size_t count) {
  if (rank == 0) return "best";
  return fmt::format("s{}", kShades - static_cast<int>(rank * kShades / count));
}

std::string line_svg(const std::vector<Axis>& axes, const SweepResults& sweep,
                     const std::vector<const SweepTrialResult*>& trials, std::size_t rank,
                     double spacing) {
  const auto& trial = *trials[rank];
  std::string path;
  for (std::size_t axis = 0; axis < axes.size(); ++axis)
    path += svg_step(axis ? 'L' : 'M', kSide + static_cast<double>(axis) * spacing,
                     height_of(axes[axis].places[rank]));
  std::string text = fmt::format("trial {}: ", trial.number);
  for (std::size_t key = 0; key < sweep.keys.size(); ++key)
    text += fmt::format("{} {}, ", shown(sweep.keys[key]), shown(trial.values[key]));
  return fmt::format(
      "<path class=\"trial {}\" d=\"{}\"><title>{}</title></path>\n", shade_of(rank, trials.size()),
      path, escaped(fmt::format("{}{} {}", text, shown(sweep.metric), short_number(trial.value))));
}

std::string drawing(const SweepResults& sweep, const std::vector<const SweepTrialResult*>& trials) {
  const auto axes = axes_of(sweep, trials);
  const double gaps = static_cast<double>(axes.size() - 1);
  const double spacing = std::clamp(900 / gaps, 110.0, 260.0);
  const auto width = svg_number(2 * kSide + gaps * spacing), height = svg_number(kAxisHeight);
  std::string svg = fmt::format(
      "<svg class=\"parallel\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-label=\"parallel coordinates of the trials\">\n",
      width, height, width, height);
  for (auto rank = trials.size(); rank-- > 0;) svg += line_svg(axes, sweep, trials, rank, spacing);
  for (std::size_t axis = 0; axis < axes.size(); ++axis)
    svg += axis_svg(axes[axis], kSide + static_cast<double>(axis) * spacing, axis, spacing);
  return svg + "</svg>";
}

std::string parallel_coordinates(const SweepResults& sweep) {
  std::vector<const SweepTrialResult*> trials;
  for (const auto& trial : sweep.trials)
    if (std::isfinite(trial.value) && trials.size() < kMostLines) trials.push_back(&trial);
  if (trials.size() < 2 || sweep.keys.empty()) return {};
  auto html = fmt::format(
      "<div class=\"scroll\">{}</div>\n"
      "<p class=\"note\">A line is a trial, the best one in orange; of the others, better ones are "
      "darker{}. A line names its trial under the pointer.</p>\n",
      drawing(sweep, trials),
      sweep.method == "halving" ? ", and a trial that was stopped early counts as worse" : "");
  if (const auto left = sweep.trials.size() - trials.size(); left > 0)
    html += paragraph(fmt::format("{} not drawn: without a finite {}, or behind the best {}.",
                                  plural(static_cast<std::int64_t>(left), "trial"), sweep.metric,
                                  kMostLines));
  return html;
}

}  // namespace

SweepSection parallel_coordinates_section() {
  return {"parallel", "Parallel coordinates", parallel_coordinates};
}

}  // namespace ddptrain
