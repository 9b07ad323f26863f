#include "transforms/geometry/taps.h"

#include <algorithm>
#include <cmath>

#include "base/names.h"

namespace ddptrain {
namespace {

double triangle(double x) { return std::max(0.0, 1 - std::abs(x)); }

double cubic(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

/// The pixels that belong to an axis: [begin, end).
struct TapRange {
  int begin, end;
};

TapRange range_of(const Axis& axis) {
  const int begin = std::clamp(int(std::floor(axis.low)), 0, axis.source - 1);
  return {begin, std::clamp(int(std::ceil(axis.low + axis.length)), begin + 1, axis.source)};
}

Taps empty_taps(int out, int size) {
  Taps taps;
  taps.size = size;
  taps.first.resize(out);
  taps.count.resize(out);
  taps.weights.resize(std::size_t(out) * size);
  return taps;
}

Taps nearest_taps(const Axis& axis) {
  const auto range = range_of(axis);
  const float scale = static_cast<float>(axis.length) / static_cast<float>(axis.out);
  Taps taps = empty_taps(axis.out, 1);
  for (int i = 0; i < axis.out; ++i) {
    const int at = int(axis.low + std::floor(static_cast<float>(i) * scale));
    taps.first[i] = std::clamp(at, range.begin, range.end - 1);
    taps.count[i] = 1;
    taps.weights[i] = 1;
  }
  return taps;
}

/// As precompute_coeffs in Pillow's Resample.c.
Taps stretched_taps(const Axis& axis, Interpolation interpolation) {
  const bool linear = interpolation == Interpolation::bilinear;
  const auto range = range_of(axis);
  const double scale = axis.length / axis.out;
  const double stretch = std::max(scale, 1.0);
  const double support = (linear ? 1.0 : 2.0) * stretch;
  Taps taps = empty_taps(axis.out, int(std::ceil(support)) * 2 + 1);
  for (int i = 0; i < axis.out; ++i) {
    const double center = axis.low + (i + 0.5) * scale;
    const int begin = std::clamp(int(center - support + 0.5), range.begin, range.end - 1);
    const int end = std::clamp(int(center + support + 0.5), begin + 1, range.end);
    double* weights = &taps.weights[std::size_t(i) * taps.size];
    double total = 0;
    for (int x = begin; x < end; ++x) {
      const double at = (x - center + 0.5) / stretch;
      total += weights[x - begin] = linear ? triangle(at) : cubic(at, -0.5);
    }
    if (total != 0)
      for (int k = 0; k < end - begin; ++k) weights[k] /= total;
    taps.first[i] = begin;
    taps.count[i] = end - begin;
  }
  return taps;
}

/// The two or four neighbors of a point, those beyond an edge folded into the edge's pixel.
Taps neighbor_taps(const Axis& axis, Interpolation interpolation) {
  const bool linear = interpolation == Interpolation::bilinear;
  const auto range = range_of(axis);
  const double scale = axis.length / axis.out;
  const int before = linear ? 0 : 1, after = linear ? 1 : 2;
  Taps taps = empty_taps(axis.out, before + after + 1);
  for (int i = 0; i < axis.out; ++i) {
    double at = axis.low + scale * (i + 0.5) - 0.5;
    if (linear) at = std::max(at, double(range.begin));
    const int base = int(std::floor(at));
    const int begin = std::clamp(base - before, range.begin, range.end - 1);
    double* weights = &taps.weights[std::size_t(i) * taps.size];
    for (int x = base - before; x <= base + after; ++x) {
      const int inside = std::clamp(x, range.begin, range.end - 1);
      weights[inside - begin] += linear ? triangle(x - at) : cubic(x - at, -0.75);
      taps.count[i] = std::max(taps.count[i], inside - begin + 1);
    }
    taps.first[i] = begin;
  }
  return taps;
}

/// Cuts `size` down to what is used.
void tighten(Taps& taps) {
  const int used = *std::max_element(taps.count.begin(), taps.count.end());
  const std::size_t outs = taps.first.size();
  for (std::size_t i = 0; i < outs; ++i)
    std::copy_n(&taps.weights[i * taps.size], used, &taps.weights[i * used]);
  taps.weights.resize(outs * used);
  taps.size = used;
}

}  // namespace

std::span<const std::string_view> names(Interpolation) {
  return kNameList<"nearest", "bilinear", "bicubic">;
}

Taps make_taps(const Axis& axis, Interpolation interpolation, bool antialias) {
  Taps taps = interpolation == Interpolation::nearest ? nearest_taps(axis)
              : antialias                             ? stretched_taps(axis, interpolation)
                                                      : neighbor_taps(axis, interpolation);
  tighten(taps);
  return taps;
}

}  // namespace ddptrain
