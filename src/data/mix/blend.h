// Pixels and numbers of two rows become one.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "data/mix.h"

namespace ddptrain {

/// row = share * row + (1 - share) * partner, in place. Both are one dense row of a batch, float or
/// double, of one shape and layout.
void blend(const at::Tensor& row, const at::Tensor& partner, double share);

/// The patch of the partner replaces that of the row; both are [channels, height, width].
void paste(const at::Tensor& row, const at::Tensor& partner, const Patch& patch);

/// Mixes a row's inputs with its partner's, in place.
void mix_row(const RowMix& mix, std::span<const at::Tensor> row,
             std::span<const at::Tensor> partner);

/// The box around (x, y) whose sides are sqrt(1 - share) of the image's, cut off at its edges:
/// rand_bbox of fastai.callback.mixup.CutMix.
Patch patch_at(std::int64_t x, std::int64_t y, double share, std::int64_t width,
               std::int64_t height);

}  // namespace ddptrain
