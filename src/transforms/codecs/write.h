// Pixels into one row of a batch tensor, with a factor and an offset per channel, or into a file.
#pragma once

#include <array>
#include <string>

#include "transforms/image.h"

namespace ddptrain {

/// value = pixel * factor + offset.
struct ChannelScale {
  std::array<float, 4> factor{1, 1, 1, 1};
  std::array<float, 4> offset{};
};

enum class PixelOrder { chw, hwc };

/// Writes channels x height x width floats. The scale is for the image's own unit, 0 .. 255 for
/// bytes.
void write_pixels(const Image& image, const ChannelScale& scale, PixelOrder order, float* out);

/// Writes the bytes themselves.
void write_bytes(const Image& image, PixelOrder order, std::uint8_t* out);

/// Bytes become 0 .. 1, floats stay: what a pipeline without normalize writes.
ChannelScale unit_scale(const Image& image);

/// The bytes of a PNG file, of an image of bytes with one or three channels.
std::string encode_png(const Image& image);

/// The same of a mask, its numbers as indices of a palette.
std::string encode_mask_png(const Image& mask);

}  // namespace ddptrain
