// Curves and points as SVG, with their values for the pointer.
#pragma once

#include <string>
#include <vector>

#include "runs/run_history.h"

namespace ddptrain {

struct ChartLine {
  enum class Look { plain, raw, smooth, dots, dashed };
  std::string name;
  Points points;
  std::size_t color = 0;  // of the palette, which has eight
  Look look = Look::plain;
};

struct Chart {
  std::string title;
  std::string x_title = "step";
  std::vector<ChartLine> lines;
  std::string note{};  // below, plain text
};

/// Exponential moving average, divided by the sum of its weights: of n values each weighs
/// 1 - 20 / n times the next one, and at least 0.6 times. What is not finite is left out.
Points smoothed(const Points& points);

/// At most about `most` points of a curve, with the least and the largest of each stretch.
Points thinned(const Points& points, std::size_t most);

/// Round numbers within [low, high], about `count` of them.
std::vector<double> ticks(double low, double high, int count);

/// A figure; empty where no line has a point.
std::string figure(const Chart& chart);

}  // namespace ddptrain
