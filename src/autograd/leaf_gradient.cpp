#include "autograd/leaf_gradient.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <utility>

namespace ddptrain {

bool takes_gradient(const at::Tensor& parameter) {
  return parameter.defined() && parameter.requires_grad() && parameter.is_leaf() &&
         parameter.is_contiguous();
}

void add_gradient(const at::Tensor& parameter, at::Tensor gradient) {
  const at::NoGradGuard no_grad;
  auto& sum = parameter.mutable_grad();
  if (sum.defined())
    sum.add_(gradient);
  else
    sum = std::move(gradient);
  if (const auto& hook = torch::autograd::impl::post_acc_grad_hooks(parameter)) (*hook)(parameter);
}

}  // namespace ddptrain
