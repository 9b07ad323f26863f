// What `tabular` has in addition to fastai's TabularModel.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "models/nets.h"

namespace ddptrain {
namespace {

/// Two columns of numbers, none of names.
ModelContext two_numbers() {
  ModelContext context;
  context.data.sample = {2};
  context.data.numbers = 1;
  return context;
}

at::Tensor outputs(Model& model, const at::Tensor& numbers, bool training = false) {
  const at::NoGradGuard no_grad;
  return model.run({at::zeros({numbers.size(0), 0}, at::kLong), numbers},
                   {.training = training, .seed = 1});
}

const nlohmann::json kPlain{{"type", "tabular"}, {"layers", {8}}};

TEST(Tabular, GivesOutputsInTheUnitsOfTheTargets) {
  const auto x = test::noise({5, 2});
  const auto plain = outputs(*test::make_model(kPlain, two_numbers()), x);
  auto scaled = test::make_model(test::with(kPlain, {{"y_scale", {1000, 50}}}), two_numbers());
  EXPECT_LT(test::largest_difference(outputs(*scaled, x), plain.mul(50).add(1000)), 1e-3);
}

// A price of 215,000 has more digits than half precision, and 90,000 is beyond it.
TEST(Tabular, ScalesInFullPrecision) {
  auto model = test::make_model(test::with(kPlain, {{"y_scale", {215000, 90000}}}), two_numbers());
  model->to(at::kCPU, at::kBFloat16);
  const auto given = outputs(*model, test::noise({4, 2}).to(at::kBFloat16));
  EXPECT_EQ(given.scalar_type(), at::kFloat);
  EXPECT_TRUE(given.isfinite().all().item<bool>());
}

TEST(Tabular, BeginsAsAStraightLine) {
  auto model = test::make_model(
      test::with(kPlain, {{"linear_skip", true}, {"y_scale", {10, 2}}, {"bn_cont", false}}),
      two_numbers());
  const auto x = at::tensor({1.0F, 2.0F, -3.0F, 0.5F}).view({2, 2});
  for (const bool training : {false, true})
    EXPECT_EQ(test::largest_difference(outputs(*model, x, training), at::full({2, 1}, 10.0)), 0);
  const at::NoGradGuard no_grad;
  const auto parameters = model->named_parameters();
  test::find(parameters, "skip.weight").copy_(at::tensor({3.0F, -1.0F}).view({1, 2}));
  test::find(parameters, "skip.bias").fill_(0.5);
  // 3 x0 - x1 + 0.5 is 1.5 and -9; times 2, plus 10.
  const auto expected = at::tensor({13.0F, -8.0F}).view({2, 1});
  EXPECT_LT(test::largest_difference(outputs(*model, x), expected), 1e-5);
}

TEST(Tabular, RefusesADeviationOfNothing) {
  EXPECT_THROW(test::make_model(test::with(kPlain, {{"y_scale", {3, 0}}}), two_numbers()), Error);
}

}  // namespace
}  // namespace ddptrain
