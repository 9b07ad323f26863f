// Activations, as formulas where ONNX's set 17 has no operator.
#include <ATen/ops/scalar_tensor.h>

#include <cmath>

#include "export/onnx/mappings.h"

namespace ddptrain {
namespace {

using Names = std::vector<std::string>;

template <const char* op>
Names same(Conversion& g) {
  return {g.add(op, {g.tensor(0)})};
}

std::string number(Conversion& g, double value) {
  return g.constant(at::scalar_tensor(value, g.output_type()));
}

Names silu(Conversion& g) {
  const auto x = g.tensor(0);
  return {g.add("Mul", {x, g.add("Sigmoid", {x})})};
}

/// x / 2 * (1 + erf(x / sqrt 2)), or its approximation by tanh (Hendrycks and Gimpel 2016).
Names gelu(Conversion& g) {
  const auto x = g.tensor(0);
  std::string inner;
  if (g.value(1).toStringRef() == "tanh") {
    const auto cube = g.add("Mul", {g.add("Mul", {x, x}), x});
    const auto sum = g.add("Add", {x, g.add("Mul", {cube, number(g, 0.044715)})});
    inner = g.add("Tanh", {g.add("Mul", {sum, number(g, std::sqrt(2 / M_PI))})});
  } else {
    inner = g.add("Erf", {g.add("Div", {x, number(g, std::sqrt(2.0))})});
  }
  const auto half = g.add("Mul", {x, number(g, 0.5)});
  return {g.add("Mul", {half, g.add("Add", {inner, number(g, 1)})})};
}

Names hardsigmoid(Conversion& g) {
  return {g.add("HardSigmoid", {g.tensor(0)}, {{"alpha", 1.0 / 6}, {"beta", 0.5}})};
}

Names relu6(Conversion& g) { return {g.add("Clip", {g.tensor(0), number(g, 0), number(g, 6)})}; }

Names leaky_relu(Conversion& g) {
  return {g.add("LeakyRelu", {g.tensor(0)}, {{"alpha", g.number(1)}})};
}

Names elu(Conversion& g) {
  if (g.number(2) != 1 || g.number(3) != 1) g.refuse("a scale other than 1");
  return {g.add("Elu", {g.tensor(0)}, {{"alpha", g.number(1)}})};
}

Names mish(Conversion& g) {
  const auto x = g.tensor(0);
  return {g.add("Mul", {x, g.add("Tanh", {g.add("Softplus", {x})})})};
}

template <const char* op>
Names along(Conversion& g) {
  return {g.add(op, {g.tensor_as(0, g.output_type())}, {{"axis", g.integer(1)}})};
}

constexpr char kRelu[] = "Relu", kSigmoid[] = "Sigmoid", kTanh[] = "Tanh", kErf[] = "Erf",
               kHardSwish[] = "HardSwish", kSelu[] = "Selu", kSoftmax[] = "Softmax",
               kLogSoftmax[] = "LogSoftmax";

}  // namespace

OnnxMappings activation_mappings() {
  return {{"aten::relu", same<kRelu>},
          {"aten::sigmoid", same<kSigmoid>},
          {"aten::tanh", same<kTanh>},
          {"aten::erf", same<kErf>},
          {"aten::selu", same<kSelu>},
          {"aten::hardswish", same<kHardSwish>},
          {"aten::hardsigmoid", hardsigmoid},
          {"aten::relu6", relu6},
          {"aten::silu", silu},
          {"aten::gelu", gelu},
          {"aten::leaky_relu", leaky_relu},
          {"aten::elu", elu},
          {"aten::mish", mish},
          {"aten::softmax", along<kSoftmax>},
          {"aten::log_softmax", along<kLogSoftmax>}};
}

}  // namespace ddptrain
