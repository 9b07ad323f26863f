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

#include <array>

namespace ddptrain {

std::span<const std::string_view> names(Activation) {
  static constexpr std::array<std::string_view, 15> words = {
      "relu",    "leaky_relu", "elu",        "gelu",         "silu",
      "swish",   "mish",       "hard_swish", "hard_sigmoid", "relu6",
      "sigmoid", "tanh",       "none",       "quick_gelu",   "gelu_tanh"};
  return words;
}

at::Tensor activate(Activation activation, const at::Tensor& input) {
  switch (activation) {
    case Activation::relu:
      return at::relu(input);
    case Activation::leaky_relu:
      return at::leaky_relu(input);
    case Activation::elu:
      return at::elu(input);
    case Activation::gelu:
      return at::gelu(input);
    case Activation::silu:
    case Activation::swish:
      return at::silu(input);
    case Activation::mish:
      return at::mish(input);
    case Activation::hard_swish:
      return at::hardswish(input);
    case Activation::hard_sigmoid:
      return at::hardsigmoid(input);
    case Activation::relu6:
      return at::relu6(input);
    case Activation::sigmoid:
      return at::sigmoid(input);
    case Activation::tanh:
      return at::tanh(input);
    case Activation::quick_gelu:
      return at::sigmoid(input.mul(1.702)).mul(input);
    case Activation::gelu_tanh:
      return at::gelu(input, "tanh");
    case Activation::none:
      break;
  }
  return input;
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
