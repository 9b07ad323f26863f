#include "report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "base/json.h"
#include "base/output/table_text.h"
#include "report/html.h"
#include "report/svg.h"

namespace ddptrain {
namespace {

constexpr std::size_t kMostPoints = 600;  // of a line
constexpr double kWidth = 640, kHeight = 260;
constexpr double kLeft = 58, kRight = 12, kTop = 10, kBottom = 34;

/// To six digits.
double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  bool is_empty() const { return low > high; }
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// By more than rounding errors, as those of an averaged rate.
bool differ(double low, double high) {
  return high - low > 1e-9 * std::max(std::abs(low), std::abs(high));
}

Range widened(Range range) {
  if (differ(range.low, range.high)) return range;
  const double margin = range.low == 0 ? 1 : std::abs(range.low) * 0.05;
  return {range.low - margin, range.high + margin};
}

struct Frame {
  Range x, y;
  double px(double value) const {
    return kLeft + (value - x.low) / (x.high - x.low) * (kWidth - kLeft - kRight);
  }
  double py(double value) const {
    return kHeight - kBottom - (value - y.low) / (y.high - y.low) * (kHeight - kTop - kBottom);
  }
};

bool is_known(const Points& points, std::size_t i) {
  return std::isfinite(points.x[i]) && std::isfinite(points.y[i]);
}

Frame frame_of(const Chart& chart) {
  Frame frame;
  for (const auto& line : chart.lines)
    for (std::size_t i = 0; i < line.points.x.size(); ++i)
      if (is_known(line.points, i)) {
        frame.x.add(line.points.x[i]);
        frame.y.add(line.points.y[i]);
      }
  if (!frame.x.is_empty()) frame.x = widened(frame.x), frame.y = widened(frame.y);
  return frame;
}

const char* look_name(ChartLine::Look look) {
  constexpr const char* names[] = {"plain", "raw", "smooth", "dots", "dashed"};
  return names[static_cast<std::size_t>(look)];
}

std::string classes(const ChartLine& line) {
  return fmt::format("l c{} {}", line.color % 8, look_name(line.look));
}

std::string dots(const Frame& frame, const ChartLine& line, const Points& points) {
  std::string svg = fmt::format("<g class=\"{}\">", classes(line));
  for (std::size_t i = 0; i < points.x.size(); ++i)
    if (is_known(points, i))
      svg += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="2.5"/>)", frame.px(points.x[i]),
                         frame.py(points.y[i]));
  return svg + "</g>";
}

/// Gaps where a value is not known.
std::string path(const Frame& frame, const ChartLine& line, const Points& points) {
  std::string steps;
  bool drawing = false;
  for (std::size_t i = 0; i < points.x.size(); ++i) {
    if (!is_known(points, i)) {
      drawing = false;
      continue;
    }
    steps += svg_step(drawing ? 'L' : 'M', frame.px(points.x[i]), frame.py(points.y[i]));
    drawing = true;
  }
  return fmt::format("<path class=\"{}\" d=\"{}\"/>", classes(line), steps);
}

std::string drawn(const Frame& frame, const ChartLine& line) {
  if (line.look == ChartLine::Look::dots) return dots(frame, line, line.points);
  const auto known = [&] {
    std::size_t count = 0;
    for (std::size_t i = 0; i < line.points.x.size(); ++i) count += is_known(line.points, i);
    return count;
  }();
  return path(frame, line, line.points) + (known <= 40 && line.look != ChartLine::Look::raw
                                               ? dots(frame, line, line.points)
                                               : std::string());
}

std::string axes(const Chart& chart, const Frame& frame) {
  std::string svg;
  for (const auto tick : ticks(frame.y.low, frame.y.high, 5)) {
    const auto y = frame.py(tick);
    svg += fmt::format(R"(<path class="grid" d="{}H{:.1f}"/>{})", svg_step('M', kLeft, y),
                       kWidth - kRight, svg_text(kLeft - 6, y + 4, "ty", short_number(tick)));
  }
  for (const auto tick : ticks(frame.x.low, frame.x.high, 6))
    svg += svg_text(frame.px(tick), kHeight - kBottom + 16, "tx", short_number(tick));
  return svg + svg_text((kLeft + kWidth - kRight) / 2, kHeight - 3, "tx", chart.x_title);
}

std::string svg_of(const Chart& chart, const Frame& frame) {
  std::string svg = fmt::format("<svg viewBox=\"0 0 640 260\" role=\"img\" aria-label=\"{}\">{}",
                                escaped(chart.title), axes(chart, frame));
  for (const auto& line : chart.lines) svg += drawn(frame, line);
  return svg + "</svg>";
}

/// What the page's script reads to say which values are at the pointer: the rectangle of the plot
/// in the units of its SVG, the values at its edges, and the points.
std::string data_of(const Chart& chart, const Frame& frame) {
  auto lines = Json::array();
  for (const auto& line : chart.lines) {
    auto points = Json::array();
    for (std::size_t i = 0; i < line.points.x.size(); ++i)
      if (is_known(line.points, i))
        points.push_back({rounded(line.points.x[i]), rounded(line.points.y[i])});
    lines.push_back({{"name", line.name}, {"points", std::move(points)}});
  }
  const bool dotted = std::any_of(chart.lines.begin(), chart.lines.end(), [](const auto& line) {
    return line.look == ChartLine::Look::dots;
  });
  const Json data{{"plot", {kLeft, kTop, kWidth - kRight, kHeight - kBottom}},
                  {"x", {frame.x.low, frame.x.high}},
                  {"y", {frame.y.low, frame.y.high}},
                  {"title", chart.x_title},
                  {"dots", dotted},
                  {"lines", std::move(lines)}};
  return lossy_json_text(data);
}

std::string legend(const Chart& chart) {
  std::string html;
  for (const auto& line : chart.lines)
    if (line.look != ChartLine::Look::raw && !line.name.empty())
      html += "<span><svg class=\"key\" viewBox=\"0 0 20 8\"><path class=\"" + classes(line) +
              " key\" d=\"M0 4H20\"/></svg>" + name_html(line.name) + "</span> ";
  return html;
}

}  // namespace

Points smoothed(const Points& points) {
  const double kept = std::max(0.6, 1 - 20 / static_cast<double>(points.x.size()));
  Points smooth;
  double sum = 0, weight = 0;
  for (std::size_t i = 0; i < points.x.size(); ++i) {
    if (!is_known(points, i)) continue;
    sum = kept * sum + points.y[i];
    weight = kept * weight + 1;
    smooth.x.push_back(points.x[i]);
    smooth.y.push_back(sum / weight);
  }
  return smooth;
}

Points thinned(const Points& points, std::size_t most) {
  const auto count = points.x.size();
  if (count <= most || most < 4) return points;
  Points kept;
  const auto keep = [&](std::size_t i) {
    kept.x.push_back(points.x[i]);
    kept.y.push_back(points.y[i]);
  };
  const auto stretches = most / 2;
  for (std::size_t s = 0; s < stretches; ++s) {
    const auto first = s * count / stretches, end = (s + 1) * count / stretches;
    auto low = first, high = first, unknown = count;
    for (auto i = first; i < end; ++i) {
      if (!is_known(points, i)) unknown = i;
      if (!(points.y[i] >= points.y[low])) low = i;
      if (!(points.y[i] <= points.y[high])) high = i;
    }
    keep(std::min(low, high));
    if (unknown < count && is_known(points, low)) keep(unknown);
    if (low != high) keep(std::max(low, high));
  }
  return kept;
}

std::vector<double> ticks(double low, double high, int count) {
  std::vector<double> found;
  const double rough = (high - low) / count;
  if (!differ(low, high) || !std::isfinite(rough)) return found;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.0, 1.0})
    if (factor * power >= rough * 0.999) step = factor * power;
  const double slack = step * 1e-9;
  for (double k = std::ceil((low - slack) / step); k * step <= high + slack; ++k)
    found.push_back(k * step + 0.0);  // no -0
  return found;
}

std::string figure(const Chart& whole) {
  const auto frame = frame_of(whole);
  if (frame.x.is_empty()) return {};
  auto chart = whole;
  for (auto& line : chart.lines)
    if (line.look != ChartLine::Look::dots) line.points = thinned(line.points, kMostPoints);
  return fmt::format(
      "<figure class=\"chart\" data-chart=\"{}\"><figcaption>{}</figcaption><div "
      "class=\"plot\">{}</div><div class=\"legend\">{}</div>{}</figure>\n",
      escaped(data_of(chart, frame)), name_html(chart.title), svg_of(chart, frame), legend(chart),
      chart.note.empty() ? "" : fmt::format("<p class=\"note\">{}</p>", escaped(chart.note)));
}

}  // namespace ddptrain
