// What the device of a run does for the images of its data.
#pragma once

#include <functional>

#include "transforms/codecs/decode.h"

namespace ddptrain {

struct ImageDevice {
  /// Images travel to it as bytes, where the transforms allow it, and are normalized there
  /// (PixelScale).
  bool takes_bytes = false;
  /// Gives what decodes JPEGs on it; an Error (Exit::device) says why there is none. Null where no
  /// training images are read.
  std::function<JpegDecoder()> jpeg_decoder = {};
};

}  // namespace ddptrain
