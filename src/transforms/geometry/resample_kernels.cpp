#include "transforms/geometry/resample_kernels.h"

#include <algorithm>
#include <cstring>

#include "base/clones.h"

namespace ddptrain::kernels {
namespace {

// Eight lanes hold two pixels of three channels; the last of each four is the first of the next
// pixel, and is not stored. Vectors of this size are passed by reference: by value they would be
// passed differently with each instruction set.
using EightFloats __attribute__((vector_size(32))) = float;
using FourFloats __attribute__((vector_size(16))) = float;
using EightInts __attribute__((vector_size(32))) = std::int32_t;
using FourInts __attribute__((vector_size(16))) = std::int32_t;
using Bytes __attribute__((vector_size(16))) = std::uint8_t;

#define ALWAYS_INLINE __attribute__((always_inline)) inline

template <class Four, class Eight, class Value>
ALWAYS_INLINE void load_two_pixels(const Value* a, const Value* b, Eight& to) {
  Four low, high;
  std::memcpy(&low, a, sizeof low);
  std::memcpy(&high, b, sizeof high);
  to = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
}
ALWAYS_INLINE void load(const float* a, const float* b, EightFloats& to) {
  load_two_pixels<FourFloats>(a, b, to);
}
ALWAYS_INLINE void load(const std::int32_t* a, const std::int32_t* b, EightInts& to) {
  load_two_pixels<FourInts>(a, b, to);
}

ALWAYS_INLINE void clamp_bytes(EightInts& sum) {
  const EightInts low{}, high = low + 255;
  sum = sum < low ? low : sum;
  sum = sum > high ? high : sum;
}
ALWAYS_INLINE void to_bytes(const EightFloats& sum, EightInts& bytes) {
  bytes = __builtin_convertvector(sum, EightInts);
  clamp_bytes(bytes);
}
ALWAYS_INLINE void to_bytes(const EightInts& sum, EightInts& bytes) {
  bytes = sum >> fraction_bits;
  clamp_bytes(bytes);
}

/// The twelve bytes of four pixels: 0 and 2 are in `even`, 1 and 3 in `odd`.
ALWAYS_INLINE FourInts packed(const EightInts& even, const EightInts& odd) {
  const EightInts pairs = even | odd << 8;
  const FourInts low = __builtin_shufflevector(pairs, pairs, 0, 1, 2, 3);
  const FourInts high = __builtin_shufflevector(pairs, pairs, 4, 5, 6, 7);
  const Bytes channels = reinterpret_cast<Bytes>(low | high << 16);
  return reinterpret_cast<FourInts>(__builtin_shufflevector(channels, channels, 0, 4, 8, 1, 5, 9, 2,
                                                            6, 10, 3, 7, 11, 12, 13, 14, 15));
}

template <class Lanes, int Size, class Value>
ALWAYS_INLINE void gather_block(const Value* from, const int* first, const Value* weights, int size,
                                Value half, FourInts& words) {
  Lanes even = Lanes{} + half, odd = even, two, by;
  for (int k = 0; k < (Size ? Size : size); ++k, weights += 16) {
    const Value* pixel = from + 3 * k;
    load(pixel + first[0], pixel + first[2], two);
    std::memcpy(&by, weights, sizeof by);
    even += by * two;
    load(pixel + first[1], pixel + first[3], two);
    std::memcpy(&by, weights + 8, sizeof by);
    odd += by * two;
  }
  EightInts even_bytes, odd_bytes;
  to_bytes(even, even_bytes);
  to_bytes(odd, odd_bytes);
  words = packed(even_bytes, odd_bytes);
}

template <class Lanes, int Size, class Value>
ALWAYS_INLINE void gather_pixels(const Value* from, const RowTaps<Value>& taps, Value half,
                                 std::uint8_t* to) {
  const int* first = taps.first.data();
  const Value* weights = taps.weights.data();
  const int size = Size ? Size : taps.size, blocks = taps.out / 4;
  FourInts words;
  for (int i = 0; i < blocks; ++i, first += 4, weights += 16 * size, to += 12) {
    gather_block<Lanes, Size>(from, first, weights, size, half, words);
    for (int j = 0; j < 3; ++j) {
      const std::int32_t word = words[j];
      std::memcpy(to + 4 * j, &word, 4);
    }
  }
  if (taps.out % 4 == 0) return;
  gather_block<Lanes, Size>(from, first, weights, size, half, words);
  std::memcpy(to, &words, 3 * std::size_t(taps.out % 4));
}

template <class Lanes, class Value>
ALWAYS_INLINE void gather_pixels(const Value* from, const RowTaps<Value>& taps, Value half,
                                 std::uint8_t* to) {
  switch (taps.size) {
    case 1:
      return gather_pixels<Lanes, 1>(from, taps, half, to);
    case 2:
      return gather_pixels<Lanes, 2>(from, taps, half, to);
    case 3:
      return gather_pixels<Lanes, 3>(from, taps, half, to);
    case 4:
      return gather_pixels<Lanes, 4>(from, taps, half, to);
    case 5:
      return gather_pixels<Lanes, 5>(from, taps, half, to);
    default:
      return gather_pixels<Lanes, 0>(from, taps, half, to);
  }
}

ALWAYS_INLINE std::uint8_t to_byte(float sum) {
  return static_cast<std::uint8_t>(std::clamp(sum, 0.0F, 255.0F));
}
ALWAYS_INLINE std::uint8_t to_byte(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> fraction_bits, 0, 255));
}

template <class Value>
ALWAYS_INLINE void gather_grays(const Value* from, const RowTaps<Value>& taps, Value half,
                                std::uint8_t* to) {
  for (int i = 0; i < taps.out; ++i) {
    Value sum = half;
    for (int k = 0; k < taps.size; ++k)
      sum += taps.weights[std::size_t(i) * taps.size + k] * from[taps.first[i] + k];
    to[i] = to_byte(sum);
  }
}

template <int Count, bool Add>
ALWAYS_INLINE void blend(const WeightedRows& some, std::size_t n, float* __restrict to) {
  const float* __restrict a = some.rows[0], * __restrict b = some.rows[1], * __restrict c = some.rows[2], * __restrict d = some.rows[3];
  const float wa = some.weights[0], wb = some.weights[1], wc = some.weights[2],
              wd = some.weights[3];
  for (std::size_t i = 0; i < n; ++i) {
    float sum = wa * a[i];
    if constexpr (Count > 1) sum += wb * b[i];
    if constexpr (Count > 2) sum += wc * c[i];
    if constexpr (Count > 3) sum += wd * d[i];
    to[i] = Add ? to[i] + sum : sum;
  }
}

template <bool Add>
ALWAYS_INLINE void blend(const WeightedRows& some, std::size_t n, float* to) {
  switch (some.count) {
    case 1:
      return blend<1, Add>(some, n, to);
    case 2:
      return blend<2, Add>(some, n, to);
    case 3:
      return blend<3, Add>(some, n, to);
    default:
      return blend<4, Add>(some, n, to);
  }
}

}  // namespace

template <class Weight>
RowTaps<Weight> row_taps(const std::vector<int>& first, const std::vector<Weight>& weights,
                         int channels) {
  RowTaps<Weight> taps;
  taps.out = static_cast<int>(first.size());
  taps.size = static_cast<int>(weights.size() / first.size());
  taps.channels = channels;
  const int blocks = (taps.out + 3) / 4;
  for (int i = 0; i < 4 * blocks; ++i)
    taps.first.push_back(channels * first[std::min(i, taps.out - 1)]);
  if (channels == 1) return taps.weights = weights, taps;
  taps.weights.reserve(std::size_t(blocks) * taps.size * 16);
  for (int block = 0; block < blocks; ++block)
    for (int k = 0; k < taps.size; ++k)
      for (int pixel : {0, 2, 1, 3}) {
        const int i = std::min(4 * block + pixel, taps.out - 1);
        taps.weights.insert(taps.weights.end(), 4, weights[std::size_t(i) * taps.size + k]);
      }
  return taps;
}
template RowTaps<float> row_taps(const std::vector<int>&, const std::vector<float>&, int);
template RowTaps<std::int32_t> row_taps(const std::vector<int>&, const std::vector<std::int32_t>&,
                                        int);

DDPTRAIN_CLONES
void widen(const std::uint8_t* from, std::size_t n, float* to) {
  for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
}

DDPTRAIN_CLONES
void widen(const std::uint8_t* from, std::size_t n, std::int32_t* to) {
  for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
}

DDPTRAIN_CLONES
void blend_rows(const WeightedRows& some, std::size_t n, bool add, float* to) {
  if (add) return blend<true>(some, n, to);
  blend<false>(some, n, to);
}

DDPTRAIN_CLONES
void gather_row(const float* from, const RowTaps<float>& taps, std::uint8_t* to) {
  if (taps.channels == 1) return gather_grays(from, taps, 0.5F, to);
  gather_pixels<EightFloats>(from, taps, 0.5F, to);
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
void gather_row_exact(const std::int32_t* from, const RowTaps<std::int32_t>& taps,
                      std::uint8_t* to) {
  constexpr std::int32_t half = 1 << (fraction_bits - 1);
  if (taps.channels == 1) return gather_grays(from, taps, half, to);
  gather_pixels<EightInts>(from, taps, half, to);
}

}  // namespace ddptrain::kernels
