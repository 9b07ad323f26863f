#include "data/batch.h"

#include "base/error.h"

namespace ddptrain {
namespace {

std::vector<at::Tensor> narrowed(const std::vector<at::Tensor>& tensors, std::int64_t first,
                                 std::int64_t count) {
  std::vector<at::Tensor> parts;
  for (const auto& tensor : tensors) parts.push_back(tensor.narrow(0, first, count));
  return parts;
}

}  // namespace

Batch slice(const Batch& batch, std::int64_t first, std::int64_t count) {
  DDP_CHECK(first >= 0 && count >= 0 && first + count <= batch.rows, "rows outside of the batch");
  Batch part;
  part.inputs = narrowed(batch.inputs, first, count);
  part.targets = narrowed(batch.targets, first, count);
  part.indices.assign(batch.indices.begin() + first, batch.indices.begin() + first + count);
  part.rows = count;
  part.first_row = batch.first_row + first;
  return part;
}

}  // namespace ddptrain
