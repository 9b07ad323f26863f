// Rotation about the centre, as torchvision.transforms.v2.functional.rotate on tensors.
#pragma once

#include <optional>

#include "transforms/image.h"

namespace ddptrain {

struct Rotation {
  double degrees = 0;  // counter-clockwise
  Interpolation interpolation = Interpolation::nearest;
  bool expand = false;            // grow so that all of the picture stays inside
  std::optional<double> fill{0};  // in the unit of the picture; without, edges fade to 0 unblended
};

void rotate(Image& image, const Rotation& rotation);

}  // namespace ddptrain
