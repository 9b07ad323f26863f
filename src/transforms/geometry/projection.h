// Shifted, turned, scaled, sheared, and seen from aside: torchvision.transforms.v2.functional's
// affine, perspective and rotate on tensors.
#pragma once

#include <array>
#include <optional>

#include "transforms/geometry/warp.h"
#include "transforms/image.h"

namespace ddptrain {

struct Affine {
  double degrees = 0;                     // clockwise
  std::array<double, 2> translate{0, 0};  // pixels to the right and down
  double scale = 1;
  std::array<double, 2> shear{0, 0};            // degrees along x and y
  std::optional<std::array<double, 2>> center;  // from the left upper corner; none: the middle
};

void affine(Image& image, const Affine& affine, const WarpOptions& options);

/// Four places (left upper, right upper, right lower, left lower), each x and y in pixels.
using Corners = std::array<std::array<double, 2>, 4>;

/// The map that finds `from` for each of `to`, in whatever unit both are. Three places of `to` must
/// not be on a line.
PlaceMap projection(const Corners& from, const Corners& to);

/// What was at `from` comes to `to`. An Error where three of them are on a line.
void perspective(Image& image, const Corners& from, const Corners& to, const WarpOptions& options);

/// About the center.
struct Rotation {
  double degrees = 0;  // counter-clockwise
  Interpolation interpolation = Interpolation::nearest;
  bool expand = false;  // grow so that all of the image stays inside
  double fill = 0;      // of what was outside, in the unit of the image
};

void rotate(Image& image, const Rotation& rotation);

}  // namespace ddptrain
