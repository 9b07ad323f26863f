// The weights with which source pixels along one axis make an output pixel.
#pragma once

#include <vector>

#include "transforms/image.h"

namespace ddptrain {

/// One axis of a resize: `length` source pixels from `low` on become `out` pixels. Only pixels
/// within them, and within 0 .. source, are looked at.
struct Axis {
  double low = 0;
  double length = 0;
  int source = 0;
  int out = 0;
};

/// Output pixel i is the sum over k < size of weights[i * size + k] * source[first[i] + k]; taps
/// beyond count[i] have weight 0 and may lie outside of the source.
struct Taps {
  int size = 1;
  std::vector<int> first;
  std::vector<int> count;
  std::vector<double> weights;
  int end() const { return first.empty() ? 0 : first.back() + count.back(); }
};

/// With antialias, Pillow's and torch's filters (triangle; cubic with a = -0.5), stretched by the
/// scale when shrinking; without, torch's two or four neighbors (cubic with a = -0.75). nearest is
/// torch's floor(i * scale).
Taps make_taps(const Axis& axis, Interpolation interpolation, bool antialias);

}  // namespace ddptrain
