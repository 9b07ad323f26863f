// One image of the built-in data set. Only additions, products, quotients and square roots of
// doubles are used, which are the same on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/random.h"
#include "transforms/image.h"

namespace ddptrain {

inline constexpr std::array<std::string_view, 10> shape_names{
    "arrow",   "circle", "crescent", "cross", "heart",
    "hexagon", "ring",   "square",   "star",  "triangle"};

/// Draws shape_names[shape] on size x size pixels.
Image draw_shape(int shape, int size, Stream& random);

/// Whether a point of the plane belongs to shape_names[shape], which lies within the unit circle.
bool inside_shape(int shape, double x, double y);

}  // namespace ddptrain
