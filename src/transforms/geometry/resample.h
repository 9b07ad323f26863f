// Resizing a window of an image.
#pragma once

#include "transforms/image.h"

namespace ddptrain {

/// Pillow's result to the last bit for bytes with antialias, torch's otherwise; floats stay floats.
void resample(const Image& from, const Window& window, Image& into);

/// Masks and points of a window.
void resample_targets(const Image& from, const Window& window, Image& into);

/// Bytes with one rounding instead of two, through floats: within one level of resample().
void resample_fast(const Image& from, const Window& window, Image& into);

/// An image as a whole, to be resized.
Window whole(const Image& image, int out_width, int out_height);

}  // namespace ddptrain
