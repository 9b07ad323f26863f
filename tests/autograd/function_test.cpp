#include "autograd/function.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

namespace ddptrain {
namespace {

/// a * b + c, where b and c may be missing.
class Product final : public AutogradFunction {
 public:
  at::Tensor forward(FunctionContext& context, const std::vector<at::Tensor>& inputs) override {
    context.save({inputs[0], inputs[1]});
    auto output = inputs[1].defined() ? inputs[0].mul(inputs[1]) : inputs[0].clone();
    if (inputs[2].defined()) output.add_(inputs[2]);
    return output;
  }

  std::vector<at::Tensor> backward(const FunctionContext& context,
                                   const at::Tensor& gradient) override {
    const auto saved = context.saved();
    for (std::size_t i = 0; i < 3; ++i) wanted.push_back(context.wants_gradient(i));
    return {saved[1].defined() ? gradient.mul(saved[1]) : gradient,
            saved[1].defined() ? gradient.mul(saved[0]) : at::Tensor(), gradient};
  }

  std::vector<bool> wanted;
};

/// input becomes 3 * input.
class Triple final : public AutogradFunction {
 public:
  at::Tensor forward(FunctionContext& context, const std::vector<at::Tensor>& inputs) override {
    auto input = inputs[0];
    input.mul_(3);
    context.overwrites(input);
    return input;
  }

  std::vector<at::Tensor> backward(const FunctionContext& /*context*/,
                                   const at::Tensor& gradient) override {
    return {gradient.mul(3)};
  }
};

/// To the input itself, and twice it.
class AndTwice final : public MultiOutputFunction {
 public:
  std::vector<at::Tensor> outputs(FunctionContext& /*context*/,
                                  const std::vector<at::Tensor>& inputs) override {
    return {inputs[0], inputs[0].mul(2)};
  }

  std::vector<at::Tensor> gradients(const FunctionContext& /*context*/,
                                    const std::vector<at::Tensor>& of_outputs) override {
    for (const auto& gradient : of_outputs) had.push_back(gradient.defined());
    const auto twice = of_outputs[1].defined() ? of_outputs[1].mul(2) : at::Tensor();
    if (!of_outputs[0].defined()) return {twice};
    return {twice.defined() ? of_outputs[0].add(twice) : of_outputs[0]};
  }

  std::vector<bool> had;  // of each output: whether it had a gradient
};

at::Tensor numbers(const std::vector<double>& values, bool learns = true) {
  return at::tensor(values, at::kDouble).set_requires_grad(learns);
}

TEST(AutogradFunction, GivesEachInputItsGradient) {
  const auto a = numbers({1, 2}), b = numbers({3, 4}), c = numbers({5, 6});
  const auto output = apply_function(c10::make_intrusive<Product>(), {a, b, c});
  EXPECT_TRUE(output.detach().equal(numbers({8, 14}, false)));
  output.backward(numbers({10, 100}, false), /*retain_graph=*/true);
  output.backward(numbers({1, 1}, false));  // a second time: from what it keeps
  EXPECT_TRUE(a.grad().equal(numbers({33, 404}, false)));
  EXPECT_TRUE(b.grad().equal(numbers({11, 202}, false)));
  EXPECT_TRUE(c.grad().equal(numbers({11, 101}, false)));
}

TEST(AutogradFunction, TakesInputsThatAreUndefined) {
  const auto a = numbers({1, 2}), c = numbers({5, 6});
  const auto output = apply_function(c10::make_intrusive<Product>(), {a, at::Tensor(), c});
  EXPECT_TRUE(output.detach().equal(numbers({6, 8}, false)));
  output.backward(numbers({10, 100}, false));
  EXPECT_TRUE(a.grad().equal(numbers({10, 100}, false)));
  EXPECT_TRUE(c.grad().equal(numbers({10, 100}, false)));
}

TEST(MultiOutputFunction, AddsTheGradientsOfItsOutputs) {
  const auto a = numbers({1, 2});
  const auto outputs = apply_multi_output(c10::make_intrusive<AndTwice>(), {a});
  EXPECT_TRUE(outputs[0].detach().equal(numbers({1, 2}, false)));
  EXPECT_TRUE(outputs[1].detach().equal(numbers({2, 4}, false)));
  outputs[0].mul(10).add(outputs[1]).sum().backward();
  EXPECT_TRUE(a.grad().equal(numbers({12, 12}, false)));
}

TEST(MultiOutputFunction, HasNoGradientOfAnOutputThatNothingTook) {
  for (const std::size_t taken : {0U, 1U}) {
    const auto function = c10::make_intrusive<AndTwice>();
    const auto a = numbers({1, 2});
    apply_multi_output(function, {a})[taken].sum().backward();
    EXPECT_EQ(function->had, (std::vector<bool>{taken == 0, taken == 1}));
    const double each = taken == 0 ? 1 : 2;
    EXPECT_TRUE(a.grad().equal(numbers({each, each}, false)));
  }
}

TEST(AutogradFunction, SaysWhichGradientsAreOfUse) {
  const auto product = c10::make_intrusive<Product>();
  const auto a = numbers({1, 2}, false), c = numbers({5, 6});
  apply_function(product, {a, at::Tensor(), c}).backward(numbers({1, 1}, false));
  EXPECT_EQ(product->wanted, (std::vector<bool>{false, false, true}));
  EXPECT_FALSE(a.grad().defined());
}

TEST(AutogradFunction, RecordsNothingWithoutGradients) {
  const auto a = numbers({1, 2}), b = numbers({3, 4});
  const at::NoGradGuard no_grad;
  EXPECT_FALSE(apply_function(c10::make_intrusive<Product>(), {a, b, {}}).requires_grad());
}

TEST(AutogradFunction, MayOverwriteAnInput) {
  const auto leaf = numbers({1, 2});
  const auto input = leaf.mul(2);
  const auto output = apply_function(c10::make_intrusive<Triple>(), {input});
  EXPECT_TRUE(output.is_same(input));
  output.backward(numbers({1, 10}, false));
  EXPECT_TRUE(leaf.grad().equal(numbers({6, 60}, false)));
}

// As in torch: what the backward pass needs must not change between the passes.
TEST(AutogradFunction, RefusesWhatWasOverwrittenBetweenThePasses) {
  const auto a = numbers({1, 2}), b = numbers({3, 4});
  const auto middle = b.mul(1);
  const auto output = apply_function(c10::make_intrusive<Product>(), {a, middle, at::Tensor()});
  middle.detach().zero_();
  EXPECT_THROW(output.backward(numbers({1, 1}, false)), c10::Error);
}

}  // namespace
}  // namespace ddptrain
