// The inner loops of resizing, compiled for several instruction sets and chosen at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ddptrain::kernels {

void widen(const std::uint8_t* from, std::size_t n, float* to);
void widen(const std::uint8_t* from, std::size_t n, std::int32_t* to);

/// One to four rows of `n` values and a weight for each: rows[0] is of the first.
struct WeightedRows {
  const float* rows[4] = {};
  float weights[4] = {};
  int count = 0;
};
/// to[i] (+)= sum of weights[k] * rows[k][i], from left to right.
void blend_rows(const WeightedRows& some, std::size_t n, bool add, float* to);

/// What an output row takes from an input row: pixel i is the sum of `size` weights times the
/// pixels from first[i] on. As gather_row reads them:
///   first    in values, of a whole number of blocks of four pixels
///   weights  one channel: [pixel][size]
///            three: [block][size][16], those of pixels 0, 2, 1 and 3 of the block four times each
template <class Weight>
struct RowTaps {
  int out = 0;  // pixels
  int size = 0;
  int channels = 0;  // 1 or 3
  std::vector<int> first;
  std::vector<Weight> weights;
};
/// From `first` in pixels and [pixel][size] weights.
template <class Weight>
RowTaps<Weight> row_taps(const std::vector<int>& first, const std::vector<Weight>& weights,
                         int channels);

/// One output row of a row of floats, rounded, clamped. `from` must be readable for size + 2 pixels
/// after the last `first`.
void gather_row(const float* from, const RowTaps<float>& taps, std::uint8_t* to);

/// Pillow's arithmetic: weights of 22 bits after the point, a half added, clamped.
constexpr int fraction_bits = 22;
void blend_rows_exact(const std::uint8_t* from, std::size_t stride, const std::int32_t* weights,
                      int rows, std::size_t n, std::uint8_t* to);
/// `from` holds bytes, widened, and must be readable as for gather_row.
void gather_row_exact(const std::int32_t* from, const RowTaps<std::int32_t>& taps,
                      std::uint8_t* to);

}  // namespace ddptrain::kernels
