// Pieces of a step that several optimizers share.
#include "optim/optimizers/steps.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_addcmul.h>
#include <ATen/ops/_foreach_lerp.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_neg.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/stack.h>

namespace ddptrain {

void decay_parameters(const Update& u) {
  if (u.weight_decay == 0) return;
  if (!u.refused.defined()) return at::_foreach_mul_(u.parameters, 1 - u.lr * u.weight_decay);
  const auto made = 1 - u.refused.to(at::kDouble);
  const auto share = u.rate_there.defined() ? made * (u.rate_there.to(at::kDouble) * u.weight_decay)
                                            : made * (u.lr * u.weight_decay);
  const auto factor = 1 - share;
  at::_foreach_mul_(u.parameters, factor.to(u.parameters.front().scalar_type()).reshape({}));
}

std::vector<at::Tensor> descent(const Update& u, bool maximize, double weight_decay) {
  auto gradients = maximize ? at::_foreach_neg(u.gradients) : u.gradients;
  if (weight_decay == 0) return gradients;
  return at::_foreach_add(gradients, u.parameters, weight_decay);
}

void running_mean(const std::vector<at::Tensor>& average, const std::vector<at::Tensor>& value,
                  double decay) {
  at::_foreach_lerp_(average, value, 1 - decay);
}

void running_mean_of_squares(const std::vector<at::Tensor>& average,
                             const std::vector<at::Tensor>& value, double decay) {
  at::_foreach_mul_(average, decay);
  at::_foreach_addcmul_(average, value, value, 1 - decay);
}

at::Tensor norms(const std::vector<at::Tensor>& tensors) {
  return at::stack(at::_foreach_norm(tensors));
}

void scale_each(const std::vector<at::Tensor>& tensors, const at::Tensor& factors) {
  at::_foreach_mul_(tensors, factors.unbind());
}

}  // namespace ddptrain
