// What a PNG's chunks claim against what is there, before libpng takes memory for them.
#pragma once

#include <vector>

#include "transforms/codecs/decode.h"

namespace ddptrain {

/// Chunks before the image's data must lie within the file.
void check_png_chunks(const EncodedImage& file);

/// The data must be able to hold the image; of large images it is unpacked once to see that it
/// does. To be called when libpng has accepted the header.
void check_png_data(const EncodedImage& file, ImageSize size);

/// The same PNG with its data unpacked by libdeflate, in blocks that zlib only copies: libpng reads
/// it in half the time. Checksums of the data are compared here and are not in what is returned.
/// Empty where the data are not whole or of another length (libpng says what is wrong), and of
/// images of more than many_pixels. `size` must have been accepted.
std::vector<std::uint8_t> unpacked_png(const EncodedImage& file, ImageSize size);

/// One of the seven interleaved images of Adam7: every pixel (left + i across, top + j down).
struct Adam7 {
  int left, top, across, down;
  int width(int of) const { return (of - left + across - 1) / across; }
  int height(int of) const { return (of - top + down - 1) / down; }
};
constexpr Adam7 adam7[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                           {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};

}  // namespace ddptrain
