// Activations whose own kernels are less exact than fp64: other operators take their place in it.
#include "models/layers/activation.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <vector>

#include "models/nets.h"
#include "simulated/simulated.h"
#include "simulated/use.h"

namespace ddptrain {
namespace {

struct Activated {
  at::Tensor output, gradient;
  std::int64_t operators;  // of the forward pass, on a device
};

// Beyond the corners at -3 and 3, and between them.
const std::vector<double> kPlaces{-4, -2.9, -1, 0, 0.1, 2.9, 5};

Activated activated(Activation activation, at::Device device, at::ScalarType type) {
  const auto x = at::tensor(kPlaces, at::kDouble).to(device, type).set_requires_grad(true);
  const auto before = simulated::counts().operators;
  const auto y = activate(activation, x);
  const auto operators = simulated::counts().operators - before;
  y.sum().backward();
  return {y.detach().cpu(), x.grad().cpu(), operators};
}

/// By the formulas of Howard et al. 2019.
Activated expected(Activation activation) {
  std::vector<double> output, gradient;
  const bool swish = activation == Activation::hard_swish;
  for (const double x : kPlaces) {
    const bool is_between = x > -3 && x < 3;
    const double gate = x <= -3 ? 0 : x >= 3 ? 1 : (x + 3) / 6, slope = is_between ? 1.0 / 6 : 0;
    output.push_back(swish ? x * gate : gate);
    gradient.push_back(swish ? gate + x * slope : slope);
  }
  return {at::tensor(output, at::kDouble), at::tensor(gradient, at::kDouble), 0};
}

TEST(HardActivations, AreExactInDoublePrecision) {
  const auto far = test::simulated_device();
  for (const auto activation : {Activation::hard_swish, Activation::hard_sigmoid})
    for (const auto device : {at::Device(at::kCPU), far}) {
      const auto found = activated(activation, device, at::kDouble);
      EXPECT_LE(test::largest_difference(found.output, expected(activation).output), 1e-15);
      EXPECT_LE(test::largest_difference(found.gradient, expected(activation).gradient), 1e-15);
    }
}

TEST(HardActivations, AreOneKernelInOtherTypes) {
  for (const auto activation : {Activation::hard_swish, Activation::hard_sigmoid})
    for (const auto type : {at::kFloat, at::kBFloat16})
      EXPECT_EQ(activated(activation, test::simulated_device(), type).operators, 1) << type;
}

}  // namespace
}  // namespace ddptrain
