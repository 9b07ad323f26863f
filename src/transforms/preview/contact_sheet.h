// Pictures side by side with a line of text below each.
#pragma once

#include <string>
#include <vector>

#include "transforms/image.h"

namespace ddptrain {

struct Captioned {
  Image picture;  // bytes, one or three channels
  std::string caption;
};

/// A grid, as wide as high, row by row on white; small pictures are enlarged by a whole factor,
/// captions cut where they do not fit. At least one picture.
Image contact_sheet(const std::vector<Captioned>& pictures);

}  // namespace ddptrain
