// Images side by side with lines of text below each.
#pragma once

#include <string>
#include <vector>

#include "transforms/image.h"

namespace ddptrain {

struct Captioned {
  Image image;          // bytes, one or three channels
  std::string caption;  // lines, with '\n' between them
};

/// A grid, as wide as high, row by row on white; small images are enlarged by a whole factor,
/// captions cut where they do not fit. At least one image.
Image contact_sheet(const std::vector<Captioned>& images);

}  // namespace ddptrain
