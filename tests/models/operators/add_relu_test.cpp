#include "models/operators/add_relu.h"

#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ddptrain {
namespace {

at::Tensor leaf(const std::vector<double>& values) {
  return at::tensor(values, at::kDouble).set_requires_grad(true);
}

TEST(AddRelu, IsTheSumWhereThatIsPositive) {
  const auto sum = add_relu(at::tensor({1.0, -2.0, 3.0, -0.5}), at::tensor({-4.0, 5.0, 2.0, 0.5}));
  EXPECT_TRUE(sum.equal(at::tensor({0.0, 3.0, 5.0, 0.0})));
}

TEST(AddRelu, KeepsWhatIsNoNumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(add_relu(at::tensor({nan}), at::tensor({1.0})).item<double>()));
}

// Both get the gradient where the sum is positive, and none elsewhere.
TEST(AddRelu, GivesBothTheGradientOfItsPositivePlaces) {
  const auto a = leaf({1, -2, 3, -1}), b = leaf({-4, 5, 2, 1});
  const auto gradient = at::tensor({10.0, 20.0, 30.0, 40.0});
  add_relu(a.mul(2), b.mul(3)).backward(gradient);  // -10, 11, 12, 1
  EXPECT_TRUE(a.grad().equal(at::tensor({0.0, 40.0, 60.0, 80.0})));
  EXPECT_TRUE(b.grad().equal(at::tensor({0.0, 60.0, 90.0, 120.0})));
}

TEST(AddRelu, NeedsAGradientOfOneSideAlone) {
  const auto a = leaf({1, -2}), plain = at::tensor({1.0, 1.0});
  add_relu(at::tensor({1.0, -3.0}), a.mul(1)).sum().backward();
  EXPECT_TRUE(a.grad().equal(at::tensor({1.0, 0.0})));
  a.mutable_grad().reset();
  add_relu(a.mul(1), plain).sum().backward();
  EXPECT_TRUE(a.grad().equal(at::tensor({1.0, 0.0})));
  EXPECT_FALSE(add_relu(plain.clone(), plain).requires_grad());
}

TEST(AddRelu, TakesAViewOfWhatAnotherFunctionGave) {
  const auto a = leaf({1, -2, 3, -4}), b = leaf({1, 1, -5, 9});
  add_relu(a.mul(1).view({2, 2}), b.view({2, 2})).sum().backward();
  EXPECT_TRUE(a.grad().equal(at::tensor({1.0, 0.0, 0.0, 1.0})));
  EXPECT_TRUE(b.grad().equal(a.grad()));
}

// As under autocast, where the shortcut may be in single precision.
TEST(AddRelu, TakesTwoTypesAndGivesEachItsGradient) {
  const auto a = leaf({1, -2}), b = leaf({0.5, 1});
  const auto sum = add_relu(a.to(at::kBFloat16), b.to(at::kFloat));
  EXPECT_EQ(sum.scalar_type(), at::kBFloat16);
  sum.sum().backward();
  EXPECT_TRUE(a.grad().equal(at::tensor({1.0, 0.0})));
  EXPECT_TRUE(b.grad().equal(at::tensor({1.0, 0.0})));
}

}  // namespace
}  // namespace ddptrain
