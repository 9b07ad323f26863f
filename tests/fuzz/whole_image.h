// Decodes an image as a run does, with a bound that a fuzzer's memory allows.
#pragma once

#include "base/error.h"
#include "input_file.h"
#include "transforms/codecs/decode.h"

namespace ddptrain::fuzz {

inline void read_image(std::span<const unsigned char> bytes) {
  try {
    const auto image = decode({bytes, "input"}, {.max_pixels = 1 << 23});
    claim(image.bytes.size() == image.values(), "pixels fill an image");
  } catch (const Error& error) {
    claim(error.code() == Exit::data, "it is the file that is wrong");
  }
}

}  // namespace ddptrain::fuzz
