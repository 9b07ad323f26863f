#include "models/text/rnn_dropout.h"

#include "base/random.h"
#include "models/layers/dropout_mask.h"

namespace ddptrain {
namespace {

std::uint64_t key_of(const std::string& path, std::int64_t segment, const Pass& pass) {
  return mix(mix(pass.seed, hash_text(path)), static_cast<std::uint64_t>(segment));
}

}  // namespace

at::Tensor RnnDropout::drop(const at::Tensor& input, const Segment& segment, const Pass& pass) {
  if (!pass.training || p_ == 0 || input.numel() == 0) return input;
  const auto rows =
      mask_rows(pass, key_of(path(), segment.number, pass), segment.batch_rows, input.size(2));
  auto mask = dropout_mask_for(input, rows, p_);
  if (segment.rows.defined()) mask = mask.index_select(0, segment.rows);
  return input.mul(mask.unsqueeze(1));
}

at::Tensor RnnDropout::forward(const at::Tensor& input, const Pass& pass) {
  return drop(input, {0, input.size(0), {}}, pass);
}

at::Tensor shared_mask(const at::Tensor& like, const SharedMask& mask, const Pass& pass) {
  const auto outer = like.dim() == 1 ? 1 : like.size(0);
  const MaskRows rows{key_of(mask.path, mask.segment, pass), pass.step, 0, outer,
                      like.numel() / outer};
  return dropout_mask_for(like, rows, mask.p).view(like.sizes());
}

}  // namespace ddptrain
