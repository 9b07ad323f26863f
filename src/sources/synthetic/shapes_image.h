// One image of the built-in data set. Only additions, products, quotients and square roots of
// doubles are used, which are the same on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "transforms/image.h"

namespace ddptrain {

inline constexpr std::array<std::string_view, 10> shape_names{
    "arrow",   "circle", "crescent", "cross", "heart",
    "hexagon", "ring",   "square",   "star",  "triangle"};

/// Where the unit circle's shape lies in an image, in pixels: its first axis points along (turn_x,
/// turn_y), a direction; the second is squeezed.
struct ShapePose {
  double x = 0, y = 0, radius = 1, squeeze = 1;
  double turn_x = 1, turn_y = 0;
};

/// Several shapes, later ones over earlier ones.
struct Scene {
  Image image;
  std::vector<ShapePose> poses;
  std::vector<std::vector<double>> covered;  // of each shape, how much of each pixel: 0 to 1
};

Scene draw_scene(const std::vector<int>& shapes, int size, Stream& random);

/// Draws shape_names[shape] on size x size pixels.
Image draw_shape(int shape, int size, Stream& random);

/// Whether a point of the plane belongs to shape_names[shape], which lies within the unit circle.
bool inside_shape(int shape, double x, double y);

}  // namespace ddptrain
