// Where a row of a batch comes from in its image.
#pragma once

#include <array>

namespace ddptrain {

/// Four places (left upper, right upper, right lower, left lower), each x and y in pixels.
using CornerPlaces = std::array<std::array<double, 2>, 4>;

/// What transforms made of an image: its size in the file, that of the row, and where in the row
/// its corners came to; they may be outside.
struct ImagePlace {
  double width = 0, height = 0;
  double row_width = 0, row_height = 0;
  CornerPlaces corners{};
  /// Where they are in the file.
  CornerPlaces own() const { return {{{0, 0}, {width, 0}, {width, height}, {0, height}}}; }
};

}  // namespace ddptrain
