// Where the tokens of a row stand, however the data filled up short texts.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ddptrain {

/// [rows, time]: each row's tokens in their order at the left, padding behind them.
at::Tensor at_the_left(const at::Tensor& tokens, std::int64_t padding);

/// [rows, time]: padding in front by as many whole segments as there is room for, then a row's
/// tokens, and the rest of the padding behind: fastai's pad_chunk. Time must be above 0.
at::Tensor in_whole_segments(const at::Tensor& tokens, std::int64_t padding, std::int64_t segment);

}  // namespace ddptrain
