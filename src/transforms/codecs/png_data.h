// What a PNG's chunks claim against what is there, before libpng takes memory for them.
#pragma once

#include "transforms/codecs/decode.h"

namespace ddptrain {

/// Chunks before the image's data must lie within the file.
void check_png_chunks(const EncodedImage& file);

/// The data must be able to hold the image; of large images it is unpacked once to see that it
/// does. To be called when libpng has accepted the header.
void check_png_data(const EncodedImage& file, ImageSize size);

/// One of the seven interleaved images of Adam7: every pixel (left + i across, top + j down).
struct Adam7 {
  int left, top, across, down;
  int width(int of) const { return (of - left + across - 1) / across; }
  int height(int of) const { return (of - top + down - 1) / down; }
};
constexpr Adam7 adam7[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                           {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};

}  // namespace ddptrain
