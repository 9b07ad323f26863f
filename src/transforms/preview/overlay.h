// What belongs to an image, drawn over it for a person.
#pragma once

#include <vector>

#include "transforms/image.h"

namespace ddptrain {

/// Blends the color of each pixel's class (mask_color) over an image of bytes of its size, which
/// gets three channels; class 0 stays as it is.
void draw_mask(Image& image, const Image& mask);

/// A bright cross with a dark rim at each point that is in the image, which gets three
/// channels.
void draw_points(Image& image, const std::vector<ImagePoint>& points);

}  // namespace ddptrain
