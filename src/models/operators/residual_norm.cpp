#include "models/operators/residual_norm.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/native_layer_norm.h>
#include <ATen/ops/native_layer_norm_backward.h>
#include <torch/library.h>

#include <optional>
#include <string>
#include <utility>

#include "autograd/function.h"

namespace ddptrain {
namespace {

using Maybe = std::optional<at::Tensor>;
using FourTensors = std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor>;

// Both operators by LibTorch's. An operator gives no undefined tensors to every device: one without
// elements stands for the sum where there is no branch, and for a branch's gradient that is the
// input's.

FourTensors norm_in_parts(const at::Tensor& input, const Maybe& branch, const at::Tensor& weight,
                          const at::Tensor& bias, double eps, at::ScalarType type) {
  const auto sum = branch ? branch->add(input) : input;
  const auto [normalized, mean, inverse] =
      at::native_layer_norm(sum, weight.sizes(), weight, bias, eps);
  return {branch ? sum : at::empty({0}, input.options()), normalized.to(type), mean, inverse};
}

FourTensors norm_backward_in_parts(const Maybe& of_sum, const at::Tensor& of_normalized,
                                   const at::Tensor& sum, const at::Tensor& mean,
                                   const at::Tensor& inverse, const at::Tensor& weight,
                                   const at::Tensor& bias, at::ScalarType branch) {
  auto [input, of_weight, of_bias] =
      at::native_layer_norm_backward(of_normalized.to(sum.scalar_type()), sum, weight.sizes(), mean,
                                     inverse, weight, bias, {true, true, true});
  if (of_sum) input = input.add(*of_sum);
  const bool is_alike = branch == sum.scalar_type();
  return {input, is_alike ? at::empty({0}, sum.options()) : input.to(branch), of_weight, of_bias};
}

/// Of input, branch, weight and bias, to the sum and what is normalized.
class ResidualNormFunction final : public MultiOutputFunction {
 public:
  ResidualNormFunction(double eps, at::ScalarType type) : eps_(eps), type_(type) {}

  std::vector<at::Tensor> outputs(FunctionContext& context,
                                  const std::vector<at::Tensor>& inputs) override {
    static const auto op = c10::Dispatcher::singleton()
                               .findSchemaOrThrow("ddptrain::residual_norm", "")
                               .typed<decltype(norm_in_parts)>();
    const auto& branch = inputs[1];
    const at::AutoDispatchBelowAutograd below;
    const auto [sum, normalized, mean, inverse] = op.call(
        inputs[0], branch.defined() ? Maybe(branch) : Maybe(), inputs[2], inputs[3], eps_, type_);
    branch_ = branch.defined() ? branch.scalar_type() : inputs[0].scalar_type();
    adds_ = branch.defined();
    const auto& stream = adds_ ? sum : inputs[0];
    context.save({stream, mean, inverse, inputs[2], inputs[3]});
    return {stream, normalized};
  }

  std::vector<at::Tensor> gradients(const FunctionContext& context,
                                    const std::vector<at::Tensor>& of_outputs) override {
    static const auto op = c10::Dispatcher::singleton()
                               .findSchemaOrThrow("ddptrain::residual_norm_backward", "")
                               .typed<decltype(norm_backward_in_parts)>();
    const auto& of_sum = of_outputs[0];
    if (!of_outputs[1].defined()) return {of_sum, adds_ ? of_sum.to(branch_) : of_sum, {}, {}};
    const auto saved = context.saved();
    const auto [input, branch, weight, bias] =
        op.call(of_sum.defined() ? Maybe(of_sum) : Maybe(), of_outputs[1], saved[0], saved[1],
                saved[2], saved[3], saved[4], branch_);
    return {input, branch.numel() > 0 ? branch : input, weight, bias};
  }

 private:
  double eps_;
  at::ScalarType type_;  // of what is normalized
  at::ScalarType branch_ = at::kFloat;
  bool adds_ = false;
};

TORCH_LIBRARY_FRAGMENT(ddptrain, m) {
  const std::string forward =
      "(Tensor input, Tensor? branch, Tensor weight, Tensor bias, float eps, ScalarType type) -> "
      "(Tensor, Tensor, Tensor, Tensor)";
  const std::string backward =
      "(Tensor? of_sum, Tensor of_normalized, Tensor sum, Tensor mean, Tensor inverse, Tensor "
      "weight, Tensor bias, ScalarType branch) -> (Tensor, Tensor, Tensor, Tensor)";
  for (const char* kind : {"", "_in_parts"}) {
    m.def((std::string("residual_norm") + kind + forward).c_str());
    m.def((std::string("residual_norm_backward") + kind + backward).c_str());
  }
}
TORCH_LIBRARY_IMPL(ddptrain, CPU, m) {
  m.impl("residual_norm", &norm_in_parts);
  m.impl("residual_norm_backward", &norm_backward_in_parts);
}
TORCH_LIBRARY_IMPL(ddptrain, CompositeExplicitAutograd, m) {
  m.impl("residual_norm_in_parts", &norm_in_parts);
  m.impl("residual_norm_backward_in_parts", &norm_backward_in_parts);
}

}  // namespace

ResidualNorm residual_norm(const at::Tensor& input, const at::Tensor& branch,
                           const LayerNormTerms& terms) {
  const auto type = input.scalar_type();
  const bool is_reduced = type == at::kBFloat16 || type == at::kHalf;
  if (input.is_cpu() || is_reduced || input.numel() == 0 ||
      terms.weight.scalar_type() != input.scalar_type()) {
    const auto sum = branch.defined() ? branch.add(input) : input;
    return {sum, at::layer_norm(sum, terms.weight.sizes(), terms.weight, terms.bias, terms.eps)};
  }
  const auto device = input.device().type();
  const bool casts = type == at::kFloat && at::autocast::is_autocast_enabled(device);
  auto outputs =
      apply_multi_output(c10::make_intrusive<ResidualNormFunction>(
                             terms.eps, casts ? at::autocast::get_autocast_dtype(device) : type),
                         {input, branch, terms.weight, terms.bias});
  return {std::move(outputs[0]), std::move(outputs[1])};
}

}  // namespace ddptrain
