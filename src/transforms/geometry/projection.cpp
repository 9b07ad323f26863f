#include "transforms/geometry/projection.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/error.h"
#include "transforms/geometry.h"

namespace ddptrain {
namespace {

double radians(double degrees) { return degrees * std::numbers::pi / 180; }

/// _get_inverse_affine_matrix in torchvision.
PlaceMap inverse(const Affine& a, double center_x, double center_y) {
  const double turn = radians(a.degrees);
  const double along_x = radians(a.shear[0]), along_y = radians(a.shear[1]);
  const double first = std::cos(turn - along_y) / std::cos(along_y);
  const double second = -first * std::tan(along_x) - std::sin(turn);
  const double third = std::sin(turn - along_y) / std::cos(along_y);
  const double fourth = -third * std::tan(along_x) + std::cos(turn);
  PlaceMap map{
      {fourth / a.scale, -second / a.scale, 0, -third / a.scale, first / a.scale, 0, 0, 0}};
  auto& m = map.m;
  const double x = -center_x - a.translate[0], y = -center_y - a.translate[1];
  m[2] = m[0] * x + m[1] * y + center_x;
  m[5] = m[3] * x + m[4] * y + center_y;
  return map;
}

using Equation = std::array<double, 9>;  // eight unknowns and the right-hand side

/// Gauss with pivots.
std::array<double, 8> solved(std::array<Equation, 8> rows) {
  for (std::size_t i = 0; i < 8; ++i) {
    const auto pivot = std::max_element(
        rows.begin() + static_cast<std::ptrdiff_t>(i), rows.end(),
        [i](const Equation& a, const Equation& b) { return std::abs(a[i]) < std::abs(b[i]); });
    DDP_CHECK(std::abs((*pivot)[i]) > 1e-12, "perspective: three corners on a line");
    std::swap(rows[i], *pivot);
    for (std::size_t k = 0; k < 8; ++k) {
      if (k == i) continue;
      const double by = rows[k][i] / rows[i][i];
      for (std::size_t j = i; j < 9; ++j) rows[k][j] -= by * rows[i][j];
    }
  }
  std::array<double, 8> values;
  for (std::size_t i = 0; i < 8; ++i) values[i] = rows[i][8] / rows[i][i];
  return values;
}

/// How long a side gets whose half is `half` and whose corners reach `reach` from the center:
/// _compute_affine_output_size in torchvision.
int grown(double half, double reach) {
  const double tolerance = 1e-4;  // so that 90 degrees does not gain a pixel
  const double most = std::ceil(std::trunc((half + reach) / tolerance) * tolerance);
  const double least = std::floor(std::trunc((half - reach) / tolerance) * tolerance);
  return static_cast<int>(most - least);
}

}  // namespace

void affine(Image& image, const Affine& a, const WarpOptions& options) {
  double x = 0, y = 0;
  if (a.center) {
    x = (*a.center)[0] - image.width * 0.5;
    y = (*a.center)[1] - image.height * 0.5;
  }
  image = warped(image, inverse(a, x, y), image.width, image.height, options);
}

PlaceMap projection(const Corners& from, const Corners& to) {
  std::array<Equation, 8> rows;
  for (std::size_t i = 0; i < 4; ++i) {
    const auto [x, y] = to[i];
    const auto [u, v] = from[i];
    rows[2 * i] = {x, y, 1, 0, 0, 0, -u * x, -u * y, u};
    rows[2 * i + 1] = {0, 0, 0, x, y, 1, -v * x, -v * y, v};
  }
  return {solved(rows)};
}

void perspective(Image& image, const Corners& from, const Corners& to, const WarpOptions& options) {
  // torchvision solves in pixels and looks up at their middles: half a pixel is added to the places
  // of the output and taken off those of the source. Relative to centers the two become one shift.
  const auto centered = [&](Corners corners) {
    for (auto& [x, y] : corners) {
      x -= image.width * 0.5;
      y -= image.height * 0.5;
    }
    return corners;
  };
  image =
      warped(image, projection(centered(from), centered(to)), image.width, image.height, options);
}

void rotate(Image& image, const Rotation& rotation) {
  const double degrees = rotation.degrees - 360 * std::floor(rotation.degrees / 360);
  if (degrees == 0) return;
  if (degrees == 180) {
    flip_horizontally(image);
    return flip_vertically(image);
  }
  const double radians = degrees * std::numbers::pi / 180;
  double cosine = std::cos(radians), sine = std::sin(radians);
  if (degrees == 90 || degrees == 270) {
    cosine = 0;
    sine = degrees == 90 ? 1 : -1;
  }
  int width = image.width, height = image.height;
  if (rotation.expand) {
    const double half_x = 0.5 * image.width, half_y = 0.5 * image.height;
    width = grown(half_x, std::abs(cosine) * half_x + std::abs(sine) * half_y);
    height = grown(half_y, std::abs(sine) * half_x + std::abs(cosine) * half_y);
  }
  image = warped(image, {{cosine, -sine, 0, sine, cosine, 0, 0, 0}}, width, height,
                 {rotation.interpolation, rotation.fill});
}

}  // namespace ddptrain
