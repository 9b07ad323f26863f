#include "transforms/geometry/rotate.h"

#include <cmath>
#include <numbers>

#include "transforms/geometry.h"
#include "transforms/geometry/warp.h"

namespace ddptrain {
namespace {

/// How long a side gets whose half is `half` and whose corners reach `reach` from the centre:
/// _compute_affine_output_size in torchvision.
int grown(double half, double reach) {
  const double tolerance = 1e-4;  // so that 90 degrees does not gain a pixel
  const double most = std::ceil(std::trunc((half + reach) / tolerance) * tolerance);
  const double least = std::floor(std::trunc((half - reach) / tolerance) * tolerance);
  return static_cast<int>(most - least);
}

}  // namespace

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
