#include "transforms/policies/augment_ops.h"

#include <cmath>
#include <numbers>

#include "base/names.h"
#include "transforms/color/color.h"
#include "transforms/geometry/projection.h"

namespace ddptrain {

std::span<const std::string_view> names(AugmentOp) {
  return kNameList<"Identity", "ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate",
                   "Brightness", "Color", "Contrast", "Sharpness", "Posterize", "Solarize",
                   "AutoContrast", "Equalize", "Invert">;
}

namespace {

bool goes_both_ways(AugmentOp op) { return op >= AugmentOp::shear_x && op <= AugmentOp::sharpness; }

/// About the left upper corner, as the paper's authors have it.
void shear(Image& image, double along_x, double along_y, const WarpOptions& options) {
  const auto degrees = [](double tangent) { return std::atan(tangent) * 180 / std::numbers::pi; };
  Affine a;
  a.shear = {degrees(along_x), degrees(along_y)};
  a.center = {0, 0};
  affine(image, a, options);
}

void translate(Image& image, double x, double y, const WarpOptions& options) {
  Affine a;
  a.translate = {std::trunc(x), std::trunc(y)};
  affine(image, a, options);
}

/// The operations that leave pixels where they are.
void change_colors(Image& image, AugmentOp op, double magnitude) {
  switch (op) {
    case AugmentOp::brightness:
      return adjust_brightness(image, 1 + magnitude);
    case AugmentOp::color:
      return adjust_saturation(image, 1 + magnitude);
    case AugmentOp::contrast:
      return adjust_contrast(image, 1 + magnitude);
    case AugmentOp::sharpness:
      return adjust_sharpness(image, 1 + magnitude);
    case AugmentOp::posterize:
      return posterize(image, static_cast<int>(magnitude));
    case AugmentOp::solarize:
      return solarize(image, magnitude);
    case AugmentOp::autocontrast:
      return autocontrast(image);
    case AugmentOp::equalize:
      return equalize(image);
    case AugmentOp::invert:
      return invert(image);
    default:
      return;
  }
}

double strongest(AugmentOp op, const Image& image, const AugmentLimits& limits) {
  switch (op) {
    case AugmentOp::shear_x:
    case AugmentOp::shear_y:
      return limits.shear;
    case AugmentOp::translate_x:
      return limits.in_pixels ? limits.translate : limits.translate * image.width;
    case AugmentOp::translate_y:
      return limits.in_pixels ? limits.translate : limits.translate * image.height;
    case AugmentOp::rotate:
      return limits.degrees;
    default:
      return limits.factor;
  }
}

}  // namespace

void augment(Image& image, AugmentOp op, double magnitude, const WarpOptions& options) {
  switch (op) {
    case AugmentOp::identity:
      return;
    case AugmentOp::shear_x:
      return shear(image, magnitude, 0, options);
    case AugmentOp::shear_y:
      return shear(image, 0, magnitude, options);
    case AugmentOp::translate_x:
      return translate(image, magnitude, 0, options);
    case AugmentOp::translate_y:
      return translate(image, 0, magnitude, options);
    case AugmentOp::rotate:
      return rotate(image, {magnitude, options.interpolation, false, options.fill});
    default:
      return change_colors(image, op, magnitude);
  }
}

double magnitude_of(AugmentOp op, const MagnitudeBin& at, const Image& image,
                    const AugmentLimits& limits, Stream& random) {
  const double share = at.bin / (at.bins - 1);
  if (op == AugmentOp::posterize) return std::nearbyint(8 - limits.bits * share);
  if (op == AugmentOp::solarize) return 1 - share;
  if (!goes_both_ways(op)) return 0;
  const double magnitude = strongest(op, image, limits) * share;
  return random.uniform() < 0.5 ? -magnitude : magnitude;
}

}  // namespace ddptrain
