// Pixels looked up at any places of an image: torch.nn.functional.grid_sample with
// align_corners=True. Places count from -1, the middle of the first pixel, to 1, that of the last.
#pragma once

#include "transforms/geometry.h"
#include "transforms/geometry/warp.h"
#include "transforms/image.h"

namespace ddptrain {

struct GridOptions {
  Interpolation interpolation = Interpolation::bilinear;  // or nearest
  PaddingMode padding = PaddingMode::reflect;             // constant (black), edge or reflect
};

/// An image of floats 0 .. 1 of the given size, from bytes or floats: each of its places is first
/// moved by `inner`, then by `outer`, and looked up there; masks by nearest at the same places.
struct GridMaps {
  PlaceMap inner, outer;
};
Image grid_sample(const Image& from, const GridMaps& maps, int width, int height,
                  const GridOptions& options);

/// An image of floats: every output pixel is the mean of the source pixels that it covers:
/// torch.nn.functional.interpolate(mode='area').
Image shrink_by_area(const Image& from, int width, int height);

/// Bytes 0 .. 255 become floats 0 .. 1; floats stay.
void make_float(Image& image);

}  // namespace ddptrain
