// Moving pixels about: crops, borders, flips, rotation, boxes. Bytes stay bytes, floats floats.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "transforms/image.h"

namespace ddptrain {

struct Box {
  int left = 0, top = 0, width = 0, height = 0;
};

struct Borders {
  int left = 0, top = 0, right = 0, bottom = 0;
  bool any() const { return left || top || right || bottom; }
};

/// What lies beyond an edge: one value; the edge's pixel; a mirror image without or with the edge's
/// own pixel.
enum class PaddingMode { constant, edge, reflect, symmetric };
std::span<const std::string_view> names(PaddingMode);

void crop(Image& image, const Box& box);
/// `fill` is in the unit of the image: 0 .. 255 for bytes. A mirror image must fit: reflect needs
/// borders smaller than the image, symmetric no larger (an Error otherwise).
void pad(Image& image, const Borders& borders, PaddingMode mode, double fill);
void flip_horizontally(Image& image);
void flip_vertically(Image& image);
/// Sets a box to one value per channel, or to one for all.
void erase(Image& image, const Box& box, std::span<const double> values);

}  // namespace ddptrain
