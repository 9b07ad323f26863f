#include "models/text/rnn_dropout.h"

#include <ATen/ops/ones_like.h>

#include "base/random.h"
#include "models/operators/dropout_mask.h"

namespace ddptrain {
namespace {

std::uint64_t key_of(const std::string& path, std::int64_t segment, const Pass& pass) {
  return mix(mix(pass.seed, hash_text(path)), static_cast<std::uint64_t>(segment));
}

// Of the segment's rows in the global batch; empty where it has all.
std::vector<std::int64_t> positions_of(const Segment& segment, const MaskRows& batch) {
  std::vector<std::int64_t> positions;
  if (!segment.rows.defined()) return positions;
  const auto* row = segment.rows.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < segment.rows.numel(); ++i)
    positions.push_back(batch.position(row[i]));
  return positions;
}

}  // namespace

at::Tensor RnnDropout::drop(const at::Tensor& input, const Segment& segment, const Pass& pass) {
  if (!pass.training || p_ == 0 || input.numel() == 0) return input;
  auto rows =
      mask_rows(pass, key_of(path(), segment.number, pass), segment.batch_rows, input.size(2));
  const auto positions = positions_of(segment, rows);
  if (segment.rows.defined()) rows.positions = positions;
  rows.rows = input.size(0);
  return ddptrain::drop(input, rows, p_);
}

at::Tensor RnnDropout::forward(const at::Tensor& input, const Pass& pass) {
  return drop(input, {0, input.size(0), {}}, pass);
}

at::Tensor drop_shared(const at::Tensor& tensor, const SharedMask& mask, const Pass& pass) {
  const auto matrix = tensor.dim() == 1 ? tensor.unsqueeze(0) : tensor;
  const MaskRows rows{key_of(mask.path, mask.segment, pass),
                      pass.step,
                      0,
                      matrix.size(0),
                      matrix.size(1),
                      {},
                      pass.step_there};
  return ddptrain::drop(matrix, rows, mask.p).view(tensor.sizes());
}

at::Tensor shared_mask(const at::Tensor& like, const SharedMask& mask, const Pass& pass) {
  return drop_shared(at::ones_like(like), mask, pass);
}

}  // namespace ddptrain
