// What the loop hands to the engine: nothing in train/ knows which task it is.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace ddptrain {

/// One micro-batch of one rank. Rows first in every tensor; `rows` may be 0 (a rank without rows
/// takes part in every collective). `first_row` is the place of row 0 in the global batch of the
/// optimiser step.
struct Batch {
  std::vector<at::Tensor> inputs;
  std::vector<at::Tensor> targets;
  std::vector<std::int64_t> indices;  // sample of each row
  std::int64_t rows = 0;
  std::int64_t first_row = 0;
};

/// Rows first .. first + count - 1 of a batch, as views.
Batch slice(const Batch& batch, std::int64_t first, std::int64_t count);

}  // namespace ddptrain
