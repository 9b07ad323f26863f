#include "cli/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace ddptrain {
namespace {

constexpr int kColumns = 64;

std::string label(double value, int digits = 3) {
  char text[32];
  std::snprintf(text, sizeof text, "%10.*g", digits, value);
  return text;
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void extend(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  /// 0 .. last, in the middle where the range is a point.
  int cell(double value, int last) const {
    if (high <= low) return last / 2;
    return static_cast<int>(std::lround((value - low) / (high - low) * last));
  }
};

double scale(const Plot& points, double x) { return points.log_x ? std::log(x) : x; }

std::vector<std::string> draw(const Plot& points, const Range& x, const Range& y) {
  const auto count = static_cast<std::size_t>(points.rows);
  std::vector<std::string> rows(count, std::string(kColumns, ' '));
  for (std::size_t i = 0; i < points.x.size(); ++i) {
    if (!std::isfinite(points.y[i])) continue;
    const auto row =
        static_cast<std::size_t>(points.rows - 1 - y.cell(points.y[i], points.rows - 1));
    rows[row][static_cast<std::size_t>(x.cell(scale(points, points.x[i]), kColumns - 1))] = '*';
  }
  return rows;
}

}  // namespace

std::string plot(const Plot& points) {
  Range x, y;
  for (std::size_t i = 0; i < points.x.size(); ++i) {
    if (!std::isfinite(points.y[i])) continue;
    x.extend(scale(points, points.x[i]));
    y.extend(points.y[i]);
  }
  if (x.high < x.low) return {};
  const auto rows = draw(points, x, y);
  std::string text = fmt::format("    {}\n", points.y_name);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const bool top = row == 0, bottom = row + 1 == rows.size();
    text += (top      ? label(y.high)
             : bottom ? label(y.low)
                      : std::string(10, ' ')) +
            " |" + rows[row].substr(0, rows[row].find_last_not_of(' ') + 1) + "\n";
  }
  text += fmt::format("{}+{}\n", std::string(11, ' '), std::string(kColumns, '-'));
  const auto left = points.log_x ? label(std::exp(x.low)) : label(x.low, 7),
             right = points.log_x ? label(std::exp(x.high)) : label(x.high, 7);
  return fmt::format("{}{}   {}{}{}\n", text, left, points.x_name,
                     std::string(kColumns - 4 - points.x_name.size() - right.size() + 3, ' '),
                     right);
}

}  // namespace ddptrain
