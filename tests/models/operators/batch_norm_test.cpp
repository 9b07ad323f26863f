#include "models/operators/batch_norm.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "models/layers/activation.h"
#include "models/layers/chain.h"
#include "models/layers/norm.h"
#include "models/nets.h"

namespace ddptrain {
namespace {

at::Tensor column(const std::vector<double>& values) {
  return at::tensor(values, at::kDouble).view({-1, 1});
}

NormTerms terms_of_one_channel(bool training) {
  return {at::tensor({2.0}, at::kDouble),
          at::tensor({0.5}, at::kDouble),
          at::zeros({1}, at::kDouble),
          at::ones({1}, at::kDouble),
          training,
          0.5,
          0};
}

// 1, 3, 5, 7: mean 4, variance 5, of a sample 20 / 3.
TEST(BatchNormRelu, AddsToTheNormalizedAndCutsAtZero) {
  const auto x = column({1, 3, 5, 7}), residual = column({10, 0, 0, -10});
  const auto terms = terms_of_one_channel(true);
  const double unit = 2 / std::sqrt(5.0);
  const auto y = batch_norm(x, {true, residual}, terms);
  EXPECT_LT(test::largest_difference(y, column({10.5 - 3 * unit, 0, 0.5 + unit, 0})), 1e-12);
  EXPECT_DOUBLE_EQ(terms.mean.item<double>(), 2);
  EXPECT_DOUBLE_EQ(terms.variance.item<double>(), 0.5 + 10.0 / 3);
}

TEST(BatchNormRelu, NormalizesByWhatIsKeptOutsideOfTraining) {
  const auto y = batch_norm(column({1, -3}), {true}, terms_of_one_channel(false));
  EXPECT_TRUE(y.equal(column({2.5, 0})));
}

// Finite differences of the sum of squares.
TEST(BatchNormRelu, HasTheGradientsOfItsFormula) {
  for (const bool training : {true, false}) {
    const auto x = column({1, 3, 5, 8}), residual = column({1, -0.25, 0.5, -9});
    const auto square = [&](const at::Tensor& a, const at::Tensor& b) {
      return batch_norm(a, {true, b}, terms_of_one_channel(training)).square().sum();
    };
    for (const bool of_residual : {false, true}) {
      const auto a = x.clone().set_requires_grad(true),
                 b = residual.clone().set_requires_grad(true);
      square(a, b).backward();
      const auto& gradient = of_residual ? b.grad() : a.grad();
      for (std::int64_t i = 0; i < 4; ++i) {
        const auto moved = [&](double by) {
          auto p = x.clone(), q = residual.clone();
          (of_residual ? q : p)[i].add_(by);
          return square(p, q).item<double>();
        };
        EXPECT_NEAR(gradient[i].item<double>(), (moved(1e-5) - moved(-1e-5)) / 2e-5, 1e-6);
      }
    }
  }
}

// One is the operator's own, the other two operators: on the CPU blocks take these.
TEST(BatchNormRelu, HasTheBitsOfItsParts) {
  for (const auto type : {at::kDouble, at::kFloat, at::kBFloat16}) {
    const auto x = test::noise({5, 3, 4, 4}).to(type),
               residual = test::noise({5, 3, 4, 4}).to(type);
    const auto gradient = test::noise({5, 3, 4, 4}).to(type);
    const auto wide = type == at::kDouble ? at::kDouble : at::kFloat;
    BatchNorm norm(3), again(3);
    for (auto* each : {&norm, &again}) each->to(at::kCPU, wide);
    const auto a = x.clone().set_requires_grad(true), b = x.clone().set_requires_grad(true);
    const auto parts = norm.forward_relu(a, residual, {.training = true});
    const auto one = batch_norm(
        b, {true, residual},
        {again.weight(), again.bias(), again.running_mean(), again.running_var(), true, 0.1, 1e-5});
    EXPECT_TRUE(one.equal(parts)) << type;
    parts.backward(gradient);
    one.backward(gradient);
    EXPECT_TRUE(b.grad().equal(a.grad())) << type;
    EXPECT_TRUE(again.weight().grad().equal(norm.weight().grad())) << type;
    EXPECT_TRUE(again.bias().grad().equal(norm.bias().grad())) << type;
    EXPECT_TRUE(again.running_var().equal(norm.running_var())) << type;
  }
}

// Finite differences of a weighted sum, without ReLU.
TEST(BatchNormAlone, HasTheGradientsOfItsFormula) {
  const auto x = column({1, 3, 5, 8}), weights = column({1, -2, 3, 0.5});
  const auto sum = [&](const at::Tensor& a) {
    return batch_norm(a, {}, terms_of_one_channel(true)).mul(weights).sum();
  };
  const auto a = x.clone().set_requires_grad(true);
  sum(a).backward();
  for (std::int64_t i = 0; i < 4; ++i) {
    const auto moved = [&](double by) {
      auto p = x.clone();
      p[i].add_(by);
      return sum(p).item<double>();
    };
    EXPECT_NEAR(a.grad()[i].item<double>(), (moved(1e-5) - moved(-1e-5)) / 2e-5, 1e-6);
  }
}

TEST(BatchNormRelu, DoesWithoutScaleAndWithoutAGradientOfTheInput) {
  const auto x = column({1, 3, 5, 7});
  auto terms = terms_of_one_channel(true);
  terms.weight.set_requires_grad(true);
  batch_norm(x, {true}, terms).sum().backward();
  EXPECT_LT(std::abs(terms.weight.grad().item<double>() - 4 / std::sqrt(5.0)), 1e-12);
  terms.weight.reset();
  terms.bias.reset();
  const auto y = batch_norm(x, {true}, terms);
  EXPECT_LT(test::largest_difference(y, column({0, 0, 1, 3}).div(std::sqrt(5.0))), 1e-12);
}

TEST(AddReluAfter, RunsTheShortcutWhereverThePathEnds) {
  Sequence path;
  path.append(std::make_unique<Sequence>())->forward(column({1}), {});
  path.add<Activate>(Activation::tanh);
  int runs = 0;
  const auto shortcut = [&] {
    ++runs;
    return column({-1, 2});
  };
  const auto y = add_relu_after(path, column({0, 0}), shortcut, {});
  EXPECT_TRUE(y.equal(column({0, 2})));
  EXPECT_EQ(runs, 1);
}

}  // namespace
}  // namespace ddptrain
