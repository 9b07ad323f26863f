#include "models/layers/activation.h"

#include <ATen/ops/elu.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/hardsigmoid.h>
#include <ATen/ops/hardswish.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/mish.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/relu6.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/tanh.h>

#include <algorithm>
#include <array>

namespace ddptrain {
namespace {

using ElementWise = at::Tensor (*)(const at::Tensor&);

struct NamedActivation {
  std::string_view name;
  ElementWise function;
};

at::Tensor leaky_relu(const at::Tensor& x) { return at::leaky_relu(x); }
at::Tensor elu(const at::Tensor& x) { return at::elu(x); }
at::Tensor gelu(const at::Tensor& x) { return at::gelu(x); }
at::Tensor quick_gelu(const at::Tensor& x) { return at::sigmoid(x.mul(1.702)).mul(x); }
at::Tensor gelu_tanh(const at::Tensor& x) { return at::gelu(x, "tanh"); }

/// In fp64 too, LibTorch's kernels of hard_swish and hard_sigmoid multiply by a sixth that was
/// rounded to float, 3e-8 off: those of CUDA (ATen/native/cuda/ActivationHardswishKernel.cu and
/// ActivationHardsigmoidKernel.cu) and the CPU's of the backward pass. fp64 is for comparisons of
/// devices, so it takes exact operators.
bool rounds_a_sixth(const at::Tensor& x) { return x.scalar_type() == at::kDouble; }
at::Tensor hard_sigmoid(const at::Tensor& x) {
  return rounds_a_sixth(x) ? x.add(3).clamp(0, 6).div(6) : at::hardsigmoid(x);
}
at::Tensor hard_swish(const at::Tensor& x) {
  return rounds_a_sixth(x) ? x.mul(x.add(3).clamp(0, 6)).div(6) : at::hardswish(x);
}
at::Tensor unchanged(const at::Tensor& x) { return x; }

/// In the order of the enum.
constexpr std::array<NamedActivation, 15> kActivations{{{"relu", at::relu},
                                                        {"leaky_relu", leaky_relu},
                                                        {"elu", elu},
                                                        {"gelu", gelu},
                                                        {"silu", at::silu},
                                                        {"swish", at::silu},
                                                        {"mish", at::mish},
                                                        {"hard_swish", hard_swish},
                                                        {"hard_sigmoid", hard_sigmoid},
                                                        {"relu6", at::relu6},
                                                        {"sigmoid", at::sigmoid},
                                                        {"tanh", at::tanh},
                                                        {"none", unchanged},
                                                        {"quick_gelu", quick_gelu},
                                                        {"gelu_tanh", gelu_tanh}}};

}  // namespace

std::span<const std::string_view> names(Activation) {
  static constexpr auto words = [] {
    std::array<std::string_view, kActivations.size()> all;
    std::ranges::transform(kActivations, all.begin(), &NamedActivation::name);
    return all;
  }();
  return words;
}

at::Tensor activate(Activation activation, const at::Tensor& input) {
  return kActivations.at(static_cast<std::size_t>(activation)).function(input);
}

at::Tensor activate_over(Activation activation, at::Tensor input) {
  if (activation == Activation::relu) return at::relu_(input);
  if (activation == Activation::relu6) return at::relu6_(input);
  return activate(activation, input);
}

at::Tensor Activate::forward(const at::Tensor& input, const Pass&) {
  return input_ == Input::overwrite ? activate_over(activation_, input)
                                    : activate(activation_, input);
}

}  // namespace ddptrain
