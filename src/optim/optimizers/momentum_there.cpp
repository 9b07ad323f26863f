#include "optim/optimizers/momentum_there.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/_fused_adam.h>
#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/_fused_sgd.h>
#include <torch/library.h>

namespace ddptrain {
namespace {

using Maybe = std::optional<at::Tensor>;

// Also what a device computes that takes its operators from the CPU.

void adam_step_cpu(at::TensorList parameters, at::TensorList gradients, at::TensorList first,
                   at::TensorList second, at::TensorList largest, const at::Tensor& step,
                   const at::Tensor& rate, const at::Tensor& momentum, double beta2,
                   double weight_decay, double eps, bool amsgrad, bool maximize, bool decoupled,
                   const Maybe& refused) {
  const std::vector<at::Tensor> steps(parameters.size(), step);
  const auto kernel = [&](auto fused) {
    fused(parameters, gradients, first, second, largest, steps, rate.item<double>(),
          momentum.item<double>(), beta2, weight_decay, eps, amsgrad, maximize, Maybe(), refused);
  };
  if (decoupled)
    kernel([](const auto&... arguments) { at::_fused_adamw_(arguments...); });
  else
    kernel([](const auto&... arguments) { at::_fused_adam_(arguments...); });
}

void sgd_step_cpu(at::TensorList parameters, at::TensorList gradients, at::TensorList running,
                  const at::Tensor& rate, const at::Tensor& momentum, double weight_decay,
                  double dampening, bool nesterov, bool maximize, bool is_first,
                  const Maybe& refused) {
  at::_fused_sgd_(parameters, gradients, running, weight_decay, momentum.item<double>(),
                  rate.item<double>(), dampening, nesterov, maximize, is_first, {}, refused);
}

TORCH_LIBRARY_FRAGMENT(ddptrain, m) {
  m.def(
      "adam_step_(Tensor(a!)[] parameters, Tensor[] gradients, Tensor(b!)[] first, Tensor(c!)[] "
      "second, Tensor(d!)[] largest, Tensor step, Tensor rate, Tensor momentum, float beta2, float "
      "weight_decay, float eps, bool amsgrad, bool maximize, bool decoupled, Tensor? refused) -> "
      "()");
  m.def(
      "sgd_step_(Tensor(a!)[] parameters, Tensor[] gradients, Tensor(b!)[] running, Tensor rate, "
      "Tensor momentum, float weight_decay, float dampening, bool nesterov, bool maximize, bool "
      "is_first, Tensor? refused) -> ()");
}
TORCH_LIBRARY_IMPL(ddptrain, CPU, m) {
  m.impl("adam_step_", &adam_step_cpu);
  m.impl("sgd_step_", &sgd_step_cpu);
}

}  // namespace

void adam_step(const Update& u, const at::Tensor& step, const AdamTerms& terms) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("ddptrain::adam_step_", "")
                             .typed<decltype(adam_step_cpu)>();
  const at::AutoDispatchBelowAutograd below;
  op.call(u.parameters, u.gradients, u.state[0], u.state[1],
          terms.amsgrad ? u.state[2] : std::vector<at::Tensor>{}, step, u.rate_there,
          u.momentum_there, terms.beta2, u.weight_decay, terms.eps, terms.amsgrad, terms.maximize,
          terms.decoupled, found_inf(u));
}

void sgd_step(const Update& u, const SgdTerms& terms) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("ddptrain::sgd_step_", "")
                             .typed<decltype(sgd_step_cpu)>();
  const at::AutoDispatchBelowAutograd below;
  op.call(u.parameters, u.gradients, u.state[0], u.rate_there, u.momentum_there, terms.weight_decay,
          terms.dampening, terms.nesterov, terms.maximize, u.step == 1, found_inf(u));
}

}  // namespace ddptrain
