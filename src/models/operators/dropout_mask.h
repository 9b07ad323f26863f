// Which elements dropout keeps: a function of their row and place, not of how the batch is sharded.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "models/pass.h"

namespace ddptrain {

/// Rows of a step's masks: `first_row` and on, or those at `positions`. `key` is a seed mixed with
/// what is dropped.
struct MaskRows {
  std::uint64_t key = 0;
  std::int64_t step = 0;
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  std::int64_t elements = 0;                     // per row
  std::span<const std::int64_t> positions = {};  // empty: first_row and on
  at::Tensor step_there = {};  // Pass::step_there; where it is defined it counts, not `step`
  std::int64_t position(std::int64_t row) const {
    return positions.empty() ? first_row + row : positions[static_cast<std::size_t>(row)];
  }
};

/// The masks of a pass whose batch has `rows` rows.
MaskRows mask_rows(const Pass& pass, std::uint64_t key, std::int64_t rows, std::int64_t elements);

/// [rows, elements] of `scale` (kept) and 0 (dropped with probability p in 0 .. 1), on the CPU.
/// Element e of row r is word e % 4 of Philox 4x32-10 at counter (e / 4, r, step, 0): dropped where
/// it is below p * 2^32.
at::Tensor dropout_mask(const MaskRows& rows, double p, double scale, at::ScalarType type);

/// `input` [rows, ...] times its masks, scaled so that the mean stays: element i of a row, in the
/// order of its sizes, has that of element i % elements. One operator on every device
/// (ddptrain::dropout), which is its own backward pass: masks are drawn again, not kept.
at::Tensor drop(const at::Tensor& input, const MaskRows& rows, double p);

/// The same in place and not differentiable: values [rows, elements], float or double, in the
/// host's memory. Its own backward pass, too.
void drop_over(const at::Tensor& values, const MaskRows& rows, double p);

}  // namespace ddptrain
