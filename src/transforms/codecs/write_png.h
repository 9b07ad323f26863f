// An image to the bytes of a PNG file.
#pragma once

#include <string>

#include "transforms/image.h"

namespace ddptrain {

/// Of bytes, one or three channels.
std::string encode_png(const Image& image);

}  // namespace ddptrain
