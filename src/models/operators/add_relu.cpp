#include "models/operators/add_relu.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/threshold_backward.h>
#include <torch/library.h>

#include "autograd/function.h"

namespace ddptrain {
namespace {

at::Tensor& add_relu_cpu(at::Tensor& residual, const at::Tensor& input) {
  residual.add_(input);
  return at::relu_(residual);
}

at::Tensor& add_relu_op(at::Tensor& residual, const at::Tensor& input) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("ddptrain::add_relu_", "")
                             .typed<decltype(add_relu_cpu)>();
  return op.call(residual, input);
}

class AddReluFunction final : public AutogradFunction {
 public:
  at::Tensor forward(FunctionContext& context, const std::vector<at::Tensor>& inputs) override {
    auto residual = inputs[0];
    {
      const at::AutoDispatchBelowAutograd below;
      add_relu_op(residual, inputs[1]);
    }
    context.overwrites(residual);
    context.save({residual});
    return residual;
  }

  std::vector<at::Tensor> backward(const FunctionContext& context,
                                   const at::Tensor& gradient) override {
    const auto of_both = at::threshold_backward(gradient, context.saved()[0], 0);
    return {of_both, of_both};
  }
};

at::Tensor& add_relu_autograd(at::Tensor& residual, const at::Tensor& input) {
  apply_function(c10::make_intrusive<AddReluFunction>(), {residual, input});
  return residual;
}

TORCH_LIBRARY_FRAGMENT(ddptrain, m) {
  m.def("add_relu_(Tensor(a!) residual, Tensor input) -> Tensor(a!)");
}
TORCH_LIBRARY_IMPL(ddptrain, CPU, m) { m.impl("add_relu_", &add_relu_cpu); }
TORCH_LIBRARY_IMPL(ddptrain, Autograd, m) { m.impl("add_relu_", &add_relu_autograd); }

}  // namespace

at::Tensor add_relu(at::Tensor residual, const at::Tensor& input) {
  // A function of our own cannot overwrite part of what another one gave.
  if (residual.is_view()) return at::relu_(residual.add_(input));
  return add_relu_op(residual, input);
}

}  // namespace ddptrain
