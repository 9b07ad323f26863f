#include "optim/scaling.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_amp_foreach_non_finite_check_and_unscale.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/stack.h>

#include <limits>

namespace ddptrain {
namespace {

/// In double the kernel of torch.amp would round the factor to a float.
void scale_doubles(const std::vector<at::Tensor>& gradients, const at::Tensor& factor,
                   at::Tensor& overflow) {
  std::vector<at::Tensor> filled;  // nothing has no largest value
  for (const auto& gradient : gradients)
    if (gradient.numel() > 0) filled.push_back(gradient);
  if (filled.empty()) return;
  const auto largest =
      at::stack(at::_foreach_norm(filled, std::numeric_limits<double>::infinity()));
  overflow.copy_(at::isfinite(largest).logical_not().any());
  at::_foreach_mul_(gradients, factor);
}

}  // namespace

void scale_gradients(const std::vector<at::Tensor>& gradients, const at::Tensor& factor,
                     at::Tensor& overflow) {
  if (gradients.empty()) return;
  if (gradients.front().scalar_type() == at::kDouble)
    return scale_doubles(gradients, factor.reshape({}), overflow);
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, overflow,
                                                 factor.to(at::kFloat).reshape({1}));
}

}  // namespace ddptrain
