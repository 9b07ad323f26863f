// Where an image is seen from: what fastai.vision.augment.aug_transforms draws for it.
#pragma once

#include <span>
#include <string_view>

#include "transforms/geometry.h"
#include "transforms/geometry/grid_sample.h"

namespace ddptrain {

/// A change of place; the defaults change nothing.
struct FastaiPose {
  int dihedral = 0;                   // 0 .. 7 as fastai counts; 1 mirrors left and right
  double degrees = 0;                 // counter-clockwise
  double zoom = 1;                    // above 1 comes nearer
  double zoom_x = 0.5, zoom_y = 0.5;  // towards where, 0 .. 1 from the left upper corner
  double warp_x = 0, warp_y = 0;      // tilted, -0.5 .. 0.5
  Box crop;                           // of the result; empty: all of it
};

/// The image as floats 0 .. 1 of the given size, looked up once. One that is more than twice as
/// large is first shrunk by area, as in fastai.
void pose(Image& image, const FastaiPose& pose, int width, int height, const GridOptions& options);

/// fastai.vision.augment.PadMode: black, the edge's pixel, or a mirror image without it.
enum class FastaiPadMode { zeros, border, reflection };
std::span<const std::string_view> names(FastaiPadMode);

PaddingMode padding_mode(FastaiPadMode mode);

}  // namespace ddptrain
