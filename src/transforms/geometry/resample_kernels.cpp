#if defined(__GNUC__) && !defined(__clang__)
// No fused multiply-add: the same pixels on every machine.
#pragma GCC optimize("O3", "fp-contract=off")
#endif

#include "transforms/geometry/resample_kernels.h"

#include <algorithm>
#include <cstring>

#include "base/clones.h"

namespace ddptrain::kernels {
namespace {

// Four lanes hold the channels of one pixel; with three channels the last holds the next pixel's
// first and is overwritten by it.
using Floats __attribute__((vector_size(16))) = float;
using Ints __attribute__((vector_size(16))) = std::int32_t;
using FourBytes __attribute__((vector_size(4))) = std::uint8_t;

#define ALWAYS_INLINE __attribute__((always_inline)) inline

template <class T, class From>
ALWAYS_INLINE T load(const From* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

ALWAYS_INLINE Ints clamp_bytes(Ints v) {
  const Ints low{}, high = low + 255;
  v = v < low ? low : v;
  return v > high ? high : v;
}

/// Writes `channels` bytes; four where the next pixel follows and overwrites the last.
ALWAYS_INLINE void store(Ints pixel, int channels, bool last, std::uint8_t* to) {
  const FourBytes bytes = __builtin_convertvector(clamp_bytes(pixel), FourBytes);
  if (last)
    std::memcpy(to, &bytes, channels);
  else
    std::memcpy(to, &bytes, 4);
}

template <int Size>
ALWAYS_INLINE void gather_pixels(const float* from, const FloatTaps& taps, std::uint8_t* to) {
  const int size = Size ? Size : taps.size;
  const float* weights = taps.weights;
  for (int i = 0; i < taps.out; ++i, weights += size) {
    const float* pixel = from + 3 * std::size_t(taps.first[i]);
    Floats sum = Floats{} + 0.5F;
    for (int k = 0; k < size; ++k) sum += weights[k] * load<Floats>(pixel + 3 * k);
    const Floats low{};
    sum = sum < low ? low : sum;
    store(__builtin_convertvector(sum, Ints), 3, i + 1 == taps.out, to + 3 * std::size_t(i));
  }
}

ALWAYS_INLINE void gather_grays(const float* from, const FloatTaps& taps, std::uint8_t* to) {
  for (int i = 0; i < taps.out; ++i) {
    float sum = 0.5F;
    for (int k = 0; k < taps.size; ++k)
      sum += taps.weights[i * taps.size + k] * from[taps.first[i] + k];
    to[i] = static_cast<std::uint8_t>(std::clamp(sum, 0.0F, 255.0F));
  }
}

template <int Size>
ALWAYS_INLINE void gather_pixels_exact(const std::int32_t* from, const FixedTaps& taps,
                                       std::uint8_t* to) {
  const int size = Size ? Size : taps.size;
  const std::int32_t* weights = taps.weights;
  for (int i = 0; i < taps.out; ++i, weights += size) {
    const std::int32_t* pixel = from + 3 * std::size_t(taps.first[i]);
    Ints sum = Ints{} + (1 << (fraction_bits - 1));
    for (int k = 0; k < size; ++k) sum += weights[k] * load<Ints>(pixel + 3 * k);
    store(sum >> fraction_bits, 3, i + 1 == taps.out, to + 3 * std::size_t(i));
  }
}

ALWAYS_INLINE std::uint8_t to_byte(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> fraction_bits, 0, 255));
}

ALWAYS_INLINE void gather_grays_exact(const std::int32_t* from, const FixedTaps& taps,
                                      std::uint8_t* to) {
  for (int i = 0; i < taps.out; ++i) {
    std::int32_t sum = 1 << (fraction_bits - 1);
    for (int k = 0; k < taps.size; ++k)
      sum += taps.weights[i * taps.size + k] * from[taps.first[i] + k];
    to[i] = to_byte(sum);
  }
}

}  // namespace

DDPTRAIN_CLONES
void blend_rows(const std::uint8_t* const rows[4], const float weights[4], std::size_t n, bool add,
                float* to) {
  const std::uint8_t* __restrict a = rows[0], * __restrict b = rows[1], * __restrict c = rows[2], * __restrict d = rows[3];
  float* __restrict sum = to;
  const float wa = weights[0], wb = weights[1], wc = weights[2], wd = weights[3];
  if (add)
    for (std::size_t i = 0; i < n; ++i) sum[i] += wa * a[i] + wb * b[i] + wc * c[i] + wd * d[i];
  else
    for (std::size_t i = 0; i < n; ++i) sum[i] = wa * a[i] + wb * b[i] + wc * c[i] + wd * d[i];
}

DDPTRAIN_CLONES
void gather_row(const float* from, const FloatTaps& taps, int channels, std::uint8_t* to) {
  if (channels == 1) return gather_grays(from, taps, to);
  switch (taps.size) {
    case 1:
      return gather_pixels<1>(from, taps, to);
    case 2:
      return gather_pixels<2>(from, taps, to);
    case 3:
      return gather_pixels<3>(from, taps, to);
    case 4:
      return gather_pixels<4>(from, taps, to);
    case 5:
      return gather_pixels<5>(from, taps, to);
    default:
      return gather_pixels<0>(from, taps, to);
  }
}

DDPTRAIN_CLONES
void blend_rows_exact(const std::uint8_t* from, std::size_t stride, const std::int32_t* weights,
                      int rows, std::size_t n, std::uint8_t* to) {
  constexpr std::size_t block = 64;
  std::int32_t sums[block];
  for (std::size_t at = 0; at < n; at += block) {
    const std::size_t some = std::min(block, n - at);
    for (auto& sum : sums) sum = 1 << (fraction_bits - 1);
    for (int k = 0; k < rows; ++k) {
      const std::uint8_t* row = from + k * stride + at;
      for (std::size_t j = 0; j < some; ++j) sums[j] += weights[k] * row[j];
    }
    for (std::size_t j = 0; j < some; ++j) to[at + j] = to_byte(sums[j]);
  }
}

DDPTRAIN_CLONES
void widen(const std::uint8_t* from, std::size_t n, std::int32_t* to) {
  for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
}

DDPTRAIN_CLONES
void gather_row_exact(const std::int32_t* from, const FixedTaps& taps, int channels,
                      std::uint8_t* to) {
  if (channels == 1) return gather_grays_exact(from, taps, to);
  switch (taps.size) {
    case 2:
      return gather_pixels_exact<2>(from, taps, to);
    case 3:
      return gather_pixels_exact<3>(from, taps, to);
    case 4:
      return gather_pixels_exact<4>(from, taps, to);
    case 5:
      return gather_pixels_exact<5>(from, taps, to);
    default:
      return gather_pixels_exact<0>(from, taps, to);
  }
}

}  // namespace ddptrain::kernels
