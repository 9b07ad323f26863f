// The operations that RandAugment, TrivialAugment and AutoAugment choose from, with torchvision's
// (v2) arithmetic and magnitudes.
#pragma once

#include <span>
#include <string_view>

#include "base/random.h"
#include "transforms/geometry/warp.h"
#include "transforms/options.h"

namespace ddptrain {

enum class AugmentOp {
  identity,
  shear_x,
  shear_y,
  translate_x,
  translate_y,
  rotate,
  brightness,
  color,
  contrast,
  sharpness,
  posterize,
  solarize,
  autocontrast,
  equalize,
  invert
};
std::span<const std::string_view> names(AugmentOp);  // torchvision's: "ShearX"

/// One operation; the unit of `magnitude` is the operation's own (a tangent, pixels, degrees, what
/// is added to a factor of 1, bits, a share of the full value).
void augment(Image& image, AugmentOp op, double magnitude, const WarpOptions& options);

/// What the strongest of each operation is.
struct AugmentLimits {
  double shear = 0.3;
  double translate = 150.0 / 331;  // share of the side, or pixels where `in_pixels`
  bool in_pixels = false;
  double degrees = 30;
  double factor = 0.9;
  double bits = 4;  // taken off the 8
};

struct MagnitudeBin {
  double bin = 0;
  double bins = 2;  // at least 2
};

/// The magnitude of bin 0 .. bins-1, from no effect to the limit (solarize: from 1 down to 0); the
/// sign of operations that go both ways is drawn.
double magnitude_of(AugmentOp op, const MagnitudeBin& at, const Image& image,
                    const AugmentLimits& limits, Stream& random);

struct AugmentWarp {
  WarpLookup interpolation = WarpLookup::nearest;
  double fill = 0;
  void fields(Fields& f) {
    f("interpolation", interpolation, {.doc = "How pixels between pixels are made."});
    f("fill", fill, {.doc = "Value of what was outside: 0 to 255 before normalize."});
  }
  WarpOptions warp() const { return {static_cast<Interpolation>(interpolation), fill}; }
};

}  // namespace ddptrain
