// Options with fastai's names.
#pragma once

#include <span>
#include <string_view>

#include "transforms/geometry.h"

namespace ddptrain {

/// fastai.vision.augment.PadMode: black, the edge's pixel, or a mirror image without it.
enum class FastaiPadMode { zeros, border, reflection };
std::span<const std::string_view> names(FastaiPadMode);

PaddingMode padding_mode(FastaiPadMode mode);

}  // namespace ddptrain
