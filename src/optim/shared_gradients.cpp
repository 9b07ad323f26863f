#include "optim/shared_gradients.h"

#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

namespace ddptrain {

at::Tensor gradient_norm(const std::vector<at::Tensor>& gradients, double p,
                         const SharedGradients& shared) {
  if (!shared.ranks && !shared.in_doubles)
    return at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients, p)), p);
  std::vector<at::Tensor> parts;
  for (const auto& gradient : gradients)
    if (gradient.numel() > 0) parts.push_back(gradient);
  auto own = at::zeros({}, shared.options.dtype(at::kDouble));
  if (!parts.empty())
    own = at::linalg_vector_norm(at::stack(at::_foreach_norm(parts, p, at::kDouble)), p);
  if (!shared.ranks) return own.to(shared.options.dtype());
  const auto whole = at::linalg_vector_norm(at::stack(shared.ranks->all_gather(own)), p);
  return whole.to(shared.options.dtype());
}

}  // namespace ddptrain
