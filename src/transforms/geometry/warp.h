// Images seen through a map of places: what rotation, affine and perspective share. torchvision's
// (v2, tensors) arithmetic: grid_sample with zeros outside.
#pragma once

#include <array>

#include "transforms/image.h"

namespace ddptrain {

/// From a place in the output to one in the source: x' = (m0 x + m1 y + m2) / w, y' = (m3 x + m4 y
/// + m5) / w with w = m6 x + m7 y + 1. Places are relative to the images' centers.
struct PlaceMap {
  std::array<double, 8> m{1, 0, 0, 0, 1, 0, 0, 0};
};

/// Three rows of three.
using Matrix = std::array<double, 9>;
Matrix product(const Matrix& a, const Matrix& b);

/// The map from places in the source to those in the output. An Error where there is none: the map
/// brings all places onto a line.
PlaceMap inverse(const PlaceMap& map);
/// Where a place comes to.
ImagePoint moved(const PlaceMap& map, ImagePoint place);

struct WarpOptions {
  Interpolation interpolation = Interpolation::nearest;  // or bilinear
  double fill = 0;  // of what was outside, in the unit of the image
};

/// An image of the given size.
Image warped(const Image& from, const PlaceMap& map, int width, int height,
             const WarpOptions& options);

}  // namespace ddptrain
