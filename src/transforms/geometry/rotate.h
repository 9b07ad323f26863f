// Rotation about the centre, as torchvision.transforms.v2.functional.rotate on tensors.
#pragma once

#include "transforms/image.h"

namespace ddptrain {

struct Rotation {
  double degrees = 0;  // counter-clockwise
  Interpolation interpolation = Interpolation::nearest;
  bool expand = false;  // grow so that all of the image stays inside
  double fill = 0;      // of what was outside, in the unit of the image
};

void rotate(Image& image, const Rotation& rotation);

}  // namespace ddptrain
