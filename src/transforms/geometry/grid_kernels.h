// The inner loops of grid_sample, compiled for several instruction sets and chosen at run time.
#pragma once

#include <array>
#include <cstdint>

namespace ddptrain::kernels {

/// A 3 x 3 matrix, row by row: pixel (column, row, 1) of the output to (x w, y w, w), where x and y
/// count the source's pixels from the middle of the first.
using PixelMap = std::array<double, 9>;

/// Where the pixels of an output row come from: x and y have room for `count`.
void places_of_row(const PixelMap& map, int row, int count, double* x, double* y);

/// Brings places inside 0 .. size - 1: by the mirror at the middles of the first and the last
/// pixel, or to the nearest of the two.
void mirror_places(double* at, int count, int size);
void clamp_places(double* at, int count, int size);

/// Interleaved channels; bytes count as 0 .. 1.
template <class Value>
struct Pixels {
  const Value* values = nullptr;
  int width = 0, height = 0, channels = 0;
};

/// Bilinear, count x channels floats. All places are inside.
void blend_row(const Pixels<std::uint8_t>& from, const double* x, const double* y, int count,
               float* to);
void blend_row(const Pixels<float>& from, const double* x, const double* y, int count, float* to);

}  // namespace ddptrain::kernels
