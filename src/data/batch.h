// What the loop hands to the engine: nothing in train/ knows which task it is.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "data/image_place.h"

namespace ddptrain {

struct PixelScale;

/// One micro-batch of one rank. Rows first in every tensor; `rows` may be 0 (a rank without rows
/// takes part in every collective). `first_row` is the position of row 0 in the global batch of the
/// optimizer step; the others follow it unless bad samples were left out, after which `positions`
/// lists the position of each row.
struct Batch {
  std::vector<at::Tensor> inputs;
  std::vector<at::Tensor> targets;
  std::vector<std::int64_t> indices;  // sample of each row
  std::int64_t rows = 0;
  std::int64_t first_row = 0;
  std::vector<std::int64_t> positions;       // empty: first_row, first_row + 1, ...
  std::vector<ImagePlace> places;            // of each row whose target lies in its image; or none
  std::int64_t left_out = 0;                 // bad samples that are not among the rows
  std::shared_ptr<const PixelScale> pixels;  // how a device finishes inputs that are bytes; or null
  std::vector<Batch> parts;  // the rows of each replica on its device; empty, or the tensors are
};

/// Rows first .. first + count - 1 of a batch, as views; none left out of them.
Batch slice(const Batch& batch, std::int64_t first, std::int64_t count);

/// Leaves out the rows that are marked bad; the others keep their positions. The tensors are
/// changed in place.
void leave_out(Batch& batch, const std::vector<char>& bad);

}  // namespace ddptrain
