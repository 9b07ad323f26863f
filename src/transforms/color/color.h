// Brightness, contrast, saturation, hue and grey, with torchvision's (v2, tensors) arithmetic and
// rounding. Bytes stay bytes; floats are 0 .. 1. One channel is grey.
#pragma once

#include "transforms/image.h"

namespace ddptrain {

void adjust_brightness(Image& image, double factor);
void adjust_contrast(Image& image, double factor);
void adjust_saturation(Image& image, double factor);
/// Turns the hue by `shift` of a full circle, -0.5 .. 0.5.
void adjust_hue(Image& image, double shift);
/// 1 channel, or 3 equal ones.
void to_grey(Image& image, int channels);

}  // namespace ddptrain
