#include "distributed/collectives.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/scalar_tensor.h>

#include <algorithm>

namespace ddptrain {

at::Tensor gather_rows(Group& group, const at::Tensor& tensor) {
  const auto rows = tensor.dim() == 0 ? tensor.reshape({1}) : tensor;
  return at::cat(group.all_gather(rows));
}

at::Tensor reduce(Group& group, const at::Tensor& tensor, Reduction reduction) {
  auto sum = tensor.detach().clone();
  group.all_reduce(sum);
  return reduction == Reduction::mean ? sum.div_(group.size()) : sum;
}

at::Tensor pad_across(Group& group, const at::Tensor& tensor, const Padding& padding) {
  if (padding.dim >= tensor.dim()) return tensor;
  const auto mine = tensor.size(padding.dim);
  std::int64_t longest = 0;
  for (const auto& length : group.all_gather(at::scalar_tensor(mine, at::kLong)))
    longest = std::max(longest, length.item<std::int64_t>());
  if (longest == mine) return tensor;
  auto shape = tensor.sizes().vec();
  shape[static_cast<std::size_t>(padding.dim)] = longest - mine;
  const auto fill = at::full(shape, padding.fill, tensor.options());
  return padding.side == Padding::Side::start ? at::cat({fill, tensor}, padding.dim)
                                              : at::cat({tensor, fill}, padding.dim);
}

}  // namespace ddptrain
