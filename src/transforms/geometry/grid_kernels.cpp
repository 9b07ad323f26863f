#include "transforms/geometry/grid_kernels.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "base/clones.h"

namespace ddptrain::kernels {
namespace {

#define ALWAYS_INLINE __attribute__((always_inline)) inline

using Floats __attribute__((vector_size(16))) = float;
using Ints __attribute__((vector_size(16))) = std::int32_t;
using Bytes __attribute__((vector_size(16))) = std::uint8_t;

/// Two neighbors of three channels; the last lane of each holds nothing.
struct Neighbors {
  Floats left, right;
};

/// Six values are read and no more.
ALWAYS_INLINE Neighbors neighbors(const float* from) {
  Neighbors pixels;
  std::memcpy(&pixels.left, from, 16);
  std::memcpy(&pixels.right, from + 2, 16);
  pixels.right = __builtin_shuffle(pixels.right, Ints{1, 2, 3, 3});
  return pixels;
}

ALWAYS_INLINE Floats widened(Bytes bytes) {
  return __builtin_convertvector(std::bit_cast<Ints>(bytes), Floats);
}

ALWAYS_INLINE Neighbors neighbors(const std::uint8_t* from) {
  constexpr std::uint8_t none = 15;  // a byte that is 0
  std::int32_t first = 0;
  std::int16_t second = 0;
  std::memcpy(&first, from, 4);
  std::memcpy(&second, from + 4, 2);
  const auto six = std::bit_cast<Bytes>(Ints{first, second & 0xFFFF, 0, 0});
  return {widened(__builtin_shuffle(six, Bytes{0, none, none, none, 1, none, none, none, 2, none,
                                               none, none, none, none, none, none})),
          widened(__builtin_shuffle(six, Bytes{3, none, none, none, 4, none, none, none, 5, none,
                                               none, none, none, none, none, none}))};
}

template <class Value>
ALWAYS_INLINE Floats across(const Value* from, float share) {
  const auto pixels = neighbors(from);
  return pixels.left + share * (pixels.right - pixels.left);
}

/// A source pixel and how far its neighbors to the right and below are, in values; 0 where there
/// is but one column or row.
struct Strides {
  std::ptrdiff_t right, down;
};

/// How far a position lies from its pixel towards the neighbors, in pixels.
struct Shares {
  float right, lower;
};

template <class Value>
ALWAYS_INLINE float unit() {
  return std::is_same_v<Value, std::uint8_t> ? 1 / 255.0F : 1.0F;
}

template <class Value>
ALWAYS_INLINE void blend_three(const Value* at, Strides next, Shares share, bool last, float* to) {
  const Floats above = across(at, share.right), below = across(at + next.down, share.right);
  const Floats sum = (above + share.lower * (below - above)) * unit<Value>();
  std::memcpy(to, &sum, last ? 12 : 16);
}

template <class Value>
ALWAYS_INLINE void blend_any(const Value* at, Strides next, Shares share, int channels, float* to) {
  for (int c = 0; c < channels; ++c) {
    const Value* p = at + c;
    const float p00 = p[0], p10 = p[next.down];
    const float above = p00 + share.right * (p[next.right] - p00);
    const float below = p10 + share.right * (p[next.down + next.right] - p10);
    to[c] = (above + share.lower * (below - above)) * unit<Value>();
  }
}

template <class Value>
ALWAYS_INLINE void blend(const Pixels<Value>& from, const double* x, const double* y, int count,
                         float* to) {
  const std::ptrdiff_t channels = from.channels, stride = channels * from.width;
  const Strides next{from.width > 1 ? channels : 0, from.height > 1 ? stride : 0};
  const int most_left = std::max(from.width - 2, 0), most_top = std::max(from.height - 2, 0);
  const bool three = channels == 3 && from.width > 1;
  for (int i = 0; i < count; ++i, to += channels) {
    const int left = std::min(static_cast<int>(x[i]), most_left);
    const int top = std::min(static_cast<int>(y[i]), most_top);
    const Shares share{static_cast<float>(x[i] - left), static_cast<float>(y[i] - top)};
    const Value* at = from.values + top * stride + left * channels;
    if (three)
      blend_three(at, next, share, i + 1 == count, to);
    else
      blend_any(at, next, share, from.channels, to);
  }
}

ALWAYS_INLINE double less(double a, double b) { return a < b ? a : b; }

/// A place at infinity, where there is no number, is 0 too.
ALWAYS_INLINE double inside(double at, double last) { return at > 0 ? less(at, last) : 0; }

}  // namespace

DDPTRAIN_CLONES
void places_of_row(const PixelMap& map, int row, int count, double* x, double* y) {
  const double across = map[1] * row + map[2], down = map[4] * row + map[5];
  const double depth = map[7] * row + map[8];
  const double step_x = map[0], step_y = map[3], step_depth = map[6];
  for (int i = 0; i < count; ++i) {
    const double scale = 1 / (step_depth * i + depth);
    x[i] = (step_x * i + across) * scale;
    y[i] = (step_y * i + down) * scale;
  }
}

DDPTRAIN_CLONES
void mirror_places(double* at, int count, int size) {
  const double last = size - 1, period = 2 * last, part = last > 0 ? 1 / period : 0;
  for (int i = 0; i < count; ++i) {
    const double from_edge = __builtin_fabs(at[i]);
    const double rest = from_edge - period * __builtin_floor(from_edge * part);
    at[i] = inside(less(rest, period - rest), last);
  }
}

DDPTRAIN_CLONES
void clamp_places(double* at, int count, int size) {
  for (int i = 0; i < count; ++i) at[i] = inside(at[i], size - 1);
}

DDPTRAIN_CLONES
void blend_row(const Pixels<std::uint8_t>& from, const double* x, const double* y, int count,
               float* to) {
  blend(from, x, y, count, to);
}

DDPTRAIN_CLONES
void blend_row(const Pixels<float>& from, const double* x, const double* y, int count, float* to) {
  blend(from, x, y, count, to);
}

}  // namespace ddptrain::kernels
