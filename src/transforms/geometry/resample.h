// Resizing a window of an image.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transforms/image.h"

namespace ddptrain {

/// Rows of interleaved bytes that belong to another object: an image, or a rectangle of a larger
/// one, outside of which nothing is read.
struct PixelView {
  const std::uint8_t* first = nullptr;
  std::size_t stride = 0;  // bytes from one row to the next
  int width = 0;
  int height = 0;
  int channels = 3;

  const std::uint8_t* row(int y) const { return first + static_cast<std::size_t>(y) * stride; }
  PixelView part(int left, int top, int part_width, int part_height) const;
};

/// Of an image of bytes.
PixelView view_of(const Image& image);

/// Pillow's result to the last bit for bytes with antialias, torch's otherwise; floats stay floats.
void resample(const Image& from, const Window& window, Image& into);

void resample(const PixelView& from, const Window& window, Image& into);

/// Masks and points of a window.
void resample_targets(const Image& from, const Window& window, Image& into);

/// Bytes with one rounding instead of two, through floats: within one level of resample().
void resample_fast(const Image& from, const Window& window, Image& into);
void resample_fast(const PixelView& from, const Window& window, Image& into);

/// An image as a whole, to be resized.
Window whole(const Image& image, int out_width, int out_height);

}  // namespace ddptrain
