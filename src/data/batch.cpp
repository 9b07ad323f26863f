#include "data/batch.h"

#include <iterator>

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
  part.pixels = batch.pixels;
  if (!batch.positions.empty())
    part.positions.assign(batch.positions.begin() + first, batch.positions.begin() + first + count);
  if (!batch.places.empty())
    part.places.assign(batch.places.begin() + first, batch.places.begin() + first + count);
  return part;
}

void leave_out(Batch& batch, const std::vector<char>& bad) {
  const auto rows = static_cast<std::size_t>(batch.rows);
  DDP_CHECK(batch.positions.empty() && bad.size() >= rows, "a mark for each row");
  std::vector<std::int64_t> positions;
  for (std::size_t row = 0; row < rows; ++row) {
    if (bad[row]) continue;
    const auto from = static_cast<std::int64_t>(row), to = std::ssize(positions);
    positions.push_back(batch.first_row + from);
    if (to == from) continue;
    for (auto& tensor : batch.inputs) tensor.select(0, to).copy_(tensor.select(0, from));
    for (auto& tensor : batch.targets) tensor.select(0, to).copy_(tensor.select(0, from));
    batch.indices[static_cast<std::size_t>(to)] = batch.indices[row];
    if (!batch.places.empty()) batch.places[static_cast<std::size_t>(to)] = batch.places[row];
  }
  const auto kept = std::ssize(positions), left_out = batch.rows - kept;
  if (left_out == 0) return;
  batch = slice(batch, 0, kept);
  batch.positions = std::move(positions);
  batch.left_out = left_out;
}

}  // namespace ddptrain
