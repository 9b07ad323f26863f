#include "models/operators/batch_norm.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/threshold_backward.h>
#include <torch/library.h>

#include <optional>
#include <string>
#include <utility>

#include "autograd/function.h"

namespace ddptrain {
namespace {

using Maybe = std::optional<at::Tensor>;
using ThreeTensors = std::tuple<at::Tensor, at::Tensor, at::Tensor>;
using FourTensors = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

Maybe if_defined(const at::Tensor& tensor) { return tensor.defined() ? Maybe(tensor) : Maybe(); }

// An operator gives no undefined tensors to every device: an empty one stands for it.
at::Tensor or_none(const at::Tensor& tensor, const at::Tensor& like) {
  return tensor.defined() ? tensor : at::empty({0}, like.options());
}

// Both operators by LibTorch's.

ThreeTensors forward_in_parts(const at::Tensor& input, const Maybe& weight, const Maybe& bias,
                              at::Tensor& running_mean, at::Tensor& running_var,
                              const Maybe& residual, bool relu, bool training, double momentum,
                              double eps) {
  auto [output, mean, inverse] = at::native_batch_norm(input, weight, bias, running_mean,
                                                       running_var, training, momentum, eps);
  if (residual) output.add_(*residual);
  if (relu) at::relu_(output);
  return {output, mean, inverse};
}

FourTensors backward_in_parts(const at::Tensor& gradient, const at::Tensor& input,
                              const at::Tensor& output, const Maybe& weight, const Maybe& /*bias*/,
                              const Maybe& running_mean, const Maybe& running_var,
                              const at::Tensor& mean, const at::Tensor& inverse, bool relu,
                              bool adds, bool training, bool wants_input, double eps) {
  const auto masked =
      relu ? at::threshold_backward(gradient, output, 0).contiguous(input.suggest_memory_format())
           : gradient;
  const bool scales = weight && weight->defined();
  const auto [dx, dw, db] =
      at::native_batch_norm_backward(masked, input, weight, running_mean, running_var, mean,
                                     inverse, training, eps, {wants_input, scales, scales});
  return {or_none(dx, input), or_none(dw, mean), or_none(db, mean),
          adds ? masked : or_none({}, input)};
}

/// Of input, weight, bias and residual. Weight and bias are those of the terms: inputs so that
/// autograd sees them.
class BatchNormFunction final : public AutogradFunction {
 public:
  BatchNormFunction(bool relu, const NormTerms& terms) : relu_(relu), terms_(terms) {}

  at::Tensor forward(FunctionContext& context, const std::vector<at::Tensor>& inputs) override {
    const auto terms = std::exchange(terms_, {.training = terms_.training, .eps = terms_.eps});
    const auto& input = inputs[0];
    const auto [output, mean, inverse] = batch_norm_op(input, {relu_, inputs[3]}, terms);
    adds_ = inputs[3].defined();
    // In training others may move the running statistics before the backward pass.
    const bool moves = terms.training;
    context.save({input, relu_ ? output : at::Tensor(), terms.weight, terms.bias, mean, inverse,
                  moves ? at::Tensor() : terms.mean, moves ? at::Tensor() : terms.variance});
    return output;
  }

  std::vector<at::Tensor> backward(const FunctionContext& context,
                                   const at::Tensor& gradient) override {
    static const auto op = c10::Dispatcher::singleton()
                               .findSchemaOrThrow("ddptrain::batch_norm_backward", "")
                               .typed<decltype(backward_in_parts)>();
    const auto saved = context.saved();
    const auto& input = saved[0];
    const bool wants_input = context.wants_gradient(0), scales = saved[2].defined();
    const auto [dx, dw, db, residual] =
        op.call(gradient, input, relu_ ? saved[1] : input, if_defined(saved[2]),
                if_defined(saved[3]), if_defined(saved[6]), if_defined(saved[7]), saved[4],
                saved[5], relu_, adds_, terms_.training, wants_input, terms_.eps);
    const auto if_it = [](bool is, const at::Tensor& tensor) { return is ? tensor : at::Tensor(); };
    return {if_it(wants_input, dx), if_it(scales, dw), if_it(scales, db), if_it(adds_, residual)};
  }

 private:
  bool relu_, adds_ = false;
  NormTerms terms_;  // after the forward pass without tensors, which the context keeps
};

TORCH_LIBRARY_FRAGMENT(ddptrain, m) {
  const std::string forward =
      "(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) "
      "running_var, Tensor? residual, bool relu, bool training, float momentum, float eps) -> "
      "(Tensor, Tensor, Tensor)";
  const std::string backward =
      "(Tensor gradient, Tensor input, Tensor output, Tensor? weight, Tensor? bias, Tensor? "
      "running_mean, Tensor? running_var, Tensor mean, Tensor inverse, bool relu, bool adds, bool "
      "training, bool wants_input, float eps) -> (Tensor, Tensor, Tensor, Tensor)";
  for (const char* kind : {"", "_in_parts"}) {
    m.def((std::string("batch_norm") + kind + forward).c_str());
    m.def((std::string("batch_norm_backward") + kind + backward).c_str());
  }
}
TORCH_LIBRARY_IMPL(ddptrain, CPU, m) {
  m.impl("batch_norm", &forward_in_parts);
  m.impl("batch_norm_backward", &backward_in_parts);
}
TORCH_LIBRARY_IMPL(ddptrain, CompositeExplicitAutograd, m) {
  m.impl("batch_norm_in_parts", &forward_in_parts);
  m.impl("batch_norm_backward_in_parts", &backward_in_parts);
}

}  // namespace

ThreeTensors batch_norm_op(const at::Tensor& input, const NormEnd& end, const NormTerms& terms) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("ddptrain::batch_norm", "")
                             .typed<decltype(forward_in_parts)>();
  const at::AutoDispatchBelowAutograd below;
  auto mean = terms.mean, variance = terms.variance;
  return op.call(input, if_defined(terms.weight), if_defined(terms.bias), mean, variance,
                 if_defined(end.residual), end.relu, terms.training, terms.momentum, terms.eps);
}

at::Tensor batch_norm(const at::Tensor& input, const NormEnd& end, const NormTerms& terms) {
  return apply_function(c10::make_intrusive<BatchNormFunction>(end.relu, terms),
                        {input, terms.weight, terms.bias, end.residual});
}

}  // namespace ddptrain
