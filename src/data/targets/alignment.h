// Predictions in an image, brought from where one transform of it shows them to another.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "data/image_place.h"

namespace ddptrain {

using ImagePlaces = std::vector<ImagePlace>;

/// Numbers of pixels, [rows, channels, height, width] in double, looked up bilinearly; NaN where
/// `from` does not show a pixel of `to`. Both are of the same images.
at::Tensor aligned_pixels(const at::Tensor& values, const ImagePlaces& from, const ImagePlaces& to);

/// Points of -1 to 1, [rows, points, 2] or [rows, 2 * points], in double.
at::Tensor aligned_points(const at::Tensor& points, const ImagePlaces& from, const ImagePlaces& to);

/// From -1 .. 1 in a row to pixels in the file of its image.
std::array<double, 2> point_in_file(std::array<double, 2> point, const ImagePlace& place);

}  // namespace ddptrain
