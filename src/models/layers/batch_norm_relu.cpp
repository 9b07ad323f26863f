#include "models/layers/batch_norm_relu.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/threshold_backward.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <optional>

namespace ddptrain {
namespace {

using Maybe = std::optional<at::Tensor>;
using ThreeTensors = std::tuple<at::Tensor, at::Tensor, at::Tensor>;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

Maybe if_defined(const at::Tensor& tensor) { return tensor.defined() ? Maybe(tensor) : Maybe(); }

ThreeTensors batch_norm_relu_cpu(const at::Tensor& input, const Maybe& weight, const Maybe& bias,
                                 at::Tensor& running_mean, at::Tensor& running_var,
                                 const Maybe& residual, bool training, double momentum,
                                 double eps) {
  auto [output, mean, inverse] = at::native_batch_norm(input, weight, bias, running_mean,
                                                       running_var, training, momentum, eps);
  if (residual) output.add_(*residual);
  return {at::relu_(output), mean, inverse};
}

class BatchNormRelu : public torch::autograd::Function<BatchNormRelu> {
 public:
  // Weight and bias are those of the terms: here so that autograd sees them.
  static at::Tensor forward(AutogradContext* context, const at::Tensor& input,
                            const Maybe& /*weight*/, const Maybe& /*bias*/, const Maybe& residual,
                            const NormTerms& terms) {
    const auto [output, mean, inverse] =
        batch_norm_relu_op(input, residual.value_or(at::Tensor()), terms);
    // In training others may move the running statistics before the backward pass.
    const bool moves = terms.training;
    context->save_for_backward({input, output, terms.weight, mean, inverse,
                                moves ? at::Tensor() : terms.mean,
                                moves ? at::Tensor() : terms.variance});
    context->saved_data["adds"] = residual.has_value();
    context->saved_data["training"] = terms.training;
    context->saved_data["eps"] = terms.eps;
    return output;
  }

  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const auto &input = saved[0], &output = saved[1], &weight = saved[2];
    const auto masked =
        at::threshold_backward(gradients[0], output, 0).contiguous(input.suggest_memory_format());
    const bool scales = weight.defined();
    const auto [dx, dw, db] = at::native_batch_norm_backward(
        masked, input, if_defined(weight), if_defined(saved[5]), if_defined(saved[6]), saved[3],
        saved[4], context->saved_data["training"].toBool(), context->saved_data["eps"].toDouble(),
        {context->needs_input_grad(0), scales, scales});
    const bool adds = context->saved_data["adds"].toBool();
    return {dx, dw, db, adds ? masked : at::Tensor(), {}};
  }
};

TORCH_LIBRARY_FRAGMENT(ddptrain, m) {
  m.def(
      "batch_norm_relu(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, "
      "Tensor(b!) running_var, Tensor? residual, bool training, float momentum, float eps) -> "
      "(Tensor, Tensor, Tensor)");
}
TORCH_LIBRARY_IMPL(ddptrain, CPU, m) { m.impl("batch_norm_relu", &batch_norm_relu_cpu); }

}  // namespace

ThreeTensors batch_norm_relu_op(const at::Tensor& input, const at::Tensor& residual,
                                const NormTerms& terms) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("ddptrain::batch_norm_relu", "")
                             .typed<decltype(batch_norm_relu_cpu)>();
  const at::AutoDispatchBelowAutograd below;
  auto mean = terms.mean, variance = terms.variance;
  return op.call(input, if_defined(terms.weight), if_defined(terms.bias), mean, variance,
                 if_defined(residual), terms.training, terms.momentum, terms.eps);
}

at::Tensor batch_norm_relu(const at::Tensor& input, const at::Tensor& residual,
                           const NormTerms& terms) {
  return BatchNormRelu::apply(input, if_defined(terms.weight), if_defined(terms.bias),
                              if_defined(residual), terms);
}

}  // namespace ddptrain
