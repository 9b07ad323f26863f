// Element-wise activations by name.
#pragma once

#include <span>
#include <string_view>

#include "models/module.h"

namespace ddptrain {

enum class Activation {
  relu,
  leaky_relu,
  elu,
  gelu,
  silu,
  swish,
  mish,
  hard_swish,
  hard_sigmoid,
  relu6,
  sigmoid,
  tanh,
  none,
  quick_gelu,
  gelu_tanh
};
std::span<const std::string_view> names(Activation);

/// torch's functions with their defaults (leaky_relu: slope 0.01; gelu: exact); swish is silu.
/// quick_gelu is x sigmoid(1.702 x), and gelu_tanh torch's GELU with approximate="tanh".
at::Tensor activate(Activation activation, const at::Tensor& input);
/// The same; may overwrite the input where that is cheaper. The input must not be saved for the
/// backward pass of what made it: the outputs of convolutions, linear layers, batch norm and sums
/// are not.
at::Tensor activate_over(Activation activation, at::Tensor input);

/// A step of a chain.
class Activate final : public Module {
 public:
  enum class Input { keep, overwrite };
  explicit Activate(Activation activation, Input input = Input::keep)
      : activation_(activation), input_(input) {}
  at::Tensor forward(const at::Tensor& input, const Pass& pass) override;
  Activation activation() const { return activation_; }

 private:
  Activation activation_;
  Input input_;
};

/// Appends a ReLU that overwrites its input.
template <class Chain>
void add_relu(Chain& chain) {
  chain.template add<Activate>(Activation::relu, Activate::Input::overwrite);
}

}  // namespace ddptrain
