// What happens to images before the model sees them, as part of a graph.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "transforms/size_change.h"

namespace ddptrain {

struct PixelScale;

/// Decoded images of one size to what a model reads, by LibTorch's operators alone: uint8
/// [rows, height, width, channels] to float32 [rows, channels, height, width].
using PrepareImages = std::function<std::vector<at::Tensor>(const std::vector<at::Tensor>&)>;

/// Resizes and crops as `changes` say, to the same bytes as transforms/geometry/, then scales each
/// channel. Height and width of the input may be any in each call; in a trace they are read from
/// it. The weights are double, and the sums exact.
PrepareImages image_preparation(std::vector<SizeChange> changes, const PixelScale& scale);

}  // namespace ddptrain
