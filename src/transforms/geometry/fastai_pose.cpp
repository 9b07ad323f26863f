#include "transforms/geometry/fastai_pose.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/names.h"
#include "transforms/geometry/projection.h"

namespace ddptrain {
namespace {

Matrix dihedral(int which) {
  static constexpr std::array<double, 8> xs{1, -1, 1, -1, -1, 1, 1, -1};
  static constexpr std::array<double, 8> ys{1, 1, -1, 1, -1, -1, 1, -1};
  static constexpr std::array<double, 8> straight{1, 1, 1, 0, 1, 0, 0, 0};
  const auto k = static_cast<std::size_t>(which);
  const double across = 1 - straight[k];
  return {xs[k] * straight[k], xs[k] * across, 0, ys[k] * across, ys[k] * straight[k], 0, 0, 0, 1};
}

Matrix rotation(double degrees) {
  const double turn = degrees * std::numbers::pi / 180;
  return {std::cos(turn), std::sin(turn), 0, -std::sin(turn), std::cos(turn), 0, 0, 0, 1};
}

Matrix zoom(const FastaiPose& pose) {
  const double scale = 1 / pose.zoom;
  return {scale, 0,     (1 - scale) * (2 * pose.zoom_x - 1),
          0,     scale, (1 - scale) * (2 * pose.zoom_y - 1),
          0,     0,     1};
}

/// The crop of the result in places -1 .. 1 of all of it.
Matrix crop(const Box& box, int width, int height) {
  if (box.width == 0) return {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const auto axis = [](int first, int count, int size) {
    const double half = size > 1 ? (size - 1) / 2.0 : 1;
    const double scale = (count - 1) / 2.0 / half;
    return std::array<double, 2>{scale, (first + (count - 1) / 2.0) / half - 1};
  };
  const auto x = axis(box.left, box.width, width), y = axis(box.top, box.height, height);
  return {x[0], 0, x[1], 0, y[0], y[1], 0, 0, 1};
}

/// A turn of an image that is not square turns its pixels and not its unit square (_prepare_mat).
PlaceMap affine_map(const FastaiPose& pose, int width, int height) {
  Matrix m = product(product(dihedral(pose.dihedral), rotation(pose.degrees)), zoom(pose));
  m[1] *= double(height) / width;
  m[3] *= double(width) / height;
  m = product(m, crop(pose.crop, width, height));
  return {{m[0], m[1], m[2], m[3], m[4], m[5], 0, 0}};
}

/// _WarpCoord: the corners are pulled in and out.
PlaceMap tilt(const FastaiPose& pose) {
  const double x = pose.warp_x, y = pose.warp_y;
  if (x == 0 && y == 0) return {};
  return projection({{{-1, -1}, {-1, 1}, {1, -1}, {1, 1}}},
                    {{{-1 - y, -1 - x}, {-1 + y, 1 + x}, {1 + y, -1 + x}, {1 - y, 1 - x}}});
}

/// How much larger than twice the output's size the cropped image is. (fastai compares the height
/// with the output's width, which shrinks upright images for nothing.)
double excess(const Image& image, const FastaiPose& pose, int width, int height) {
  const bool cropped = pose.crop.width > 0;
  const double across = cropped ? pose.crop.width : image.width;
  const double down = cropped ? pose.crop.height : image.height;
  return std::min(across / width, down / height) / 2;
}

}  // namespace

void pose(Image& image, const FastaiPose& pose, int width, int height, const GridOptions& options) {
  const GridMaps maps{affine_map(pose, image.width, image.height), tilt(pose)};
  const double more = excess(image, pose, width, height);
  if (more > 1 && options.interpolation == Interpolation::bilinear)
    image = shrink_by_area(image, static_cast<int>(image.width / more),
                           static_cast<int>(image.height / more));
  image = grid_sample(image, maps, width, height, options);
}

std::span<const std::string_view> names(FastaiPadMode) {
  return kNameList<"zeros", "border", "reflection">;
}

PaddingMode padding_mode(FastaiPadMode mode) {
  switch (mode) {
    case FastaiPadMode::zeros:
      return PaddingMode::constant;
    case FastaiPadMode::border:
      return PaddingMode::edge;
    case FastaiPadMode::reflection:
      break;
  }
  return PaddingMode::reflect;
}

}  // namespace ddptrain
