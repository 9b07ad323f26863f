// In which light an image is seen: what fastai.vision.augment.aug_transforms draws for it.
#pragma once

#include "transforms/image.h"

namespace ddptrain {

/// A change of light in the logits of pixels; the defaults change nothing.
struct FastaiLight {
  double brightness = 0.5;  // above 0 and below 1: what medium gray becomes
  double contrast = 1;      // factor
  double saturation = 1;    // factor, of three channels
  bool operator==(const FastaiLight&) const = default;
};

/// Pixels are floats 0 .. 1.
void relight(Image& image, const FastaiLight& light);

}  // namespace ddptrain
