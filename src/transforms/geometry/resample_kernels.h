// The inner loops of resizing, compiled for several instruction sets and chosen at run time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ddptrain::kernels {

/// to[i] (+)= sum over four rows of weights[k] * rows[k][i].
void blend_rows(const std::uint8_t* const rows[4], const float weights[4], std::size_t n, bool add,
                float* to);

/// One output row from a row of floats: to[i] = sum of weights[i * size + k] * from[first[i] + k],
/// rounded, clamped. `from` must be readable for size + 2 pixels after the last first[i].
struct FloatTaps {
  int out = 0;
  int size = 0;
  const int* first = nullptr;
  const float* weights = nullptr;
};
void gather_row(const float* from, const FloatTaps& taps, int channels, std::uint8_t* to);

/// Pillow's arithmetic: weights of 22 bits after the point, a half added, clamped.
constexpr int fraction_bits = 22;
void blend_rows_exact(const std::uint8_t* from, std::size_t stride, const std::int32_t* weights,
                      int rows, std::size_t n, std::uint8_t* to);

struct FixedTaps {
  int out = 0;
  int size = 0;
  const int* first = nullptr;
  const std::int32_t* weights = nullptr;
};
void widen(const std::uint8_t* from, std::size_t n, std::int32_t* to);
/// `from` holds bytes, widened, and must be readable as for gather_row.
void gather_row_exact(const std::int32_t* from, const FixedTaps& taps, int channels,
                      std::uint8_t* to);

}  // namespace ddptrain::kernels
