// Models and losses on a device: no more operators than the table says, and no waits.
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "losses/loss.h"
#include "losses/tried_losses.h"
#include "models/operators/add_relu.h"
#include "models/operators/dropout_mask.h"
#include "models/texts.h"
#include "on_device/kernel_budgets.h"
#include "recipe/load/load.h"
#include "simulated/use.h"
#include "support/where.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

using test::kernel_budgets;
using test::KernelBudget;
using test::Sample;

struct Shown {
  ModelContext context;
  std::vector<at::Tensor> inputs;
};

Shown shown(Sample sample) {
  Shown s;
  s.context.data.classes = {"a", "b", "c"};
  if (sample == Sample::text) {
    s.context = test::text_context();
    s.inputs = {test::three_texts()};
  } else if (sample == Sample::row || sample == Sample::rating) {
    const std::int64_t numbers = sample == Sample::row ? 2 : 0;
    s.context.data.cardinalities = {4, 7};
    s.context.data.sample = {numbers};
    s.inputs = {at::randint(4, {3, 2}, at::kLong), test::noise({3, numbers})};
  } else {
    const std::vector<std::int64_t> size = sample == Sample::digit
                                               ? std::vector<std::int64_t>{1, 28, 28}
                                               : std::vector<std::int64_t>{3, 64, 64};
    s.context.data.sample = size;
    s.inputs = {test::noise({2, size[0], size[1], size[2]})};
  }
  s.context.generator = test::seeded(1);
  return s;
}

std::unique_ptr<Model> model_of(const KernelBudget& row, const ModelContext& context) {
  if (!row.model.ends_with(".yaml")) {
    if (const auto* entry = catalog<Model>().find(row.model); entry->has("classifies_pixels"))
      return test::make_model(
          {{"type", row.model}, {"body", entry->has("dropout") ? "resnet50" : "resnet34"}},
          context);
    if (row.model != "vit_b_16") return test::make_model({{"type", row.model}}, context);
    return test::make_model({{"type", "vit"}, {"image_size", 64}, {"num_layers", 12}}, context);
  }
  const auto loaded = load_recipe({test::in_source(row.model)}, row.overrides, all_catalogs());
  return catalog<Model>().build(loaded.recipe.model, context);
}

/// What a pass of training counts when another one went before it.
simulated::Counts counted(Model& model, const std::vector<at::Tensor>& inputs) {
  Penalty penalty;
  for (const std::int64_t step : {0, 1}) {
    for (const auto& [name, tensor] : model.named_parameters()) tensor.mutable_grad().reset();
    penalty = {};
    simulated::reset();
    auto sum =
        model.run(inputs, {.training = true, .seed = 3, .step = step, .penalty = &penalty}).sum();
    if (penalty.sum().defined()) sum = sum.add(penalty.sum().sum());
    sum.backward();
  }
  return simulated::counts();
}

class Kernels : public testing::TestWithParam<KernelBudget> {};

TEST_P(Kernels, OfAModelAreAsManyAsTheTableSays) {
  const auto device = test::simulated_device();
  auto s = shown(GetParam().sample);
  const auto model = model_of(GetParam(), s.context);
  model->to(device, at::kFloat);
  for (auto& input : s.inputs) input = input.to(device);
  const auto counts = counted(*model, s.inputs);
  EXPECT_LE(counts.operators, GetParam().operators) << "more than tests/on_device/kernel_budgets.h";
  EXPECT_GE(counts.operators * 10, GetParam().operators * 9)
      << "fewer: write it into tests/on_device/kernel_budgets.h";
  EXPECT_EQ(counts.waited(), 0) << counts.waits.begin()->first;
  EXPECT_EQ(counts.from_pageable + counts.from_pinned, 0);
}

std::string plain_name(const testing::TestParamInfo<KernelBudget>& row) {
  auto name = std::filesystem::path(row.param.model).stem().string();
  for (auto& letter : name)
    if (letter == '-') letter = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Budgets, Kernels, testing::ValuesIn(kernel_budgets()), plain_name);

TEST(DropOnADevice, IsOneOperatorForwardAndOneBackward) {
  const auto device = test::simulated_device();
  const auto x = test::noise({3, 6, 10}).to(device).set_requires_grad(true);
  const auto gradient = test::noise({3, 6, 10}).to(device);
  for (const std::int64_t elements : {60, 10, 1}) {  // of dropout, over time, of whole rows
    const MaskRows rows{.key = 7, .step = 5, .rows = 3, .elements = elements};
    x.mutable_grad().reset();
    simulated::reset();
    const auto output = drop(x, rows, 0.4);
    EXPECT_EQ(simulated::counts().operators, 1);
    output.backward(gradient);
    EXPECT_EQ(simulated::counts().operators, 2);
  }
}

TEST(AddReluOnADevice, IsOneOperatorForwardAndOneBackward) {
  const auto device = test::simulated_device();
  const auto x = test::noise({3, 6, 4, 5}).to(device).set_requires_grad(true);
  const auto residual = x.mul(2), gradient = test::noise({3, 6, 4, 5}).to(device);
  simulated::reset();
  const auto output = add_relu(residual, x);
  EXPECT_EQ(simulated::counts().operators, 1);
  output.backward(gradient);
  EXPECT_EQ(simulated::counts().operators, 4);  // with the product's, and the sum of both
  EXPECT_TRUE(output.detach().cpu().equal(x.detach().cpu().mul(3).clamp_min(0)));
}

TEST(KernelBudgets, AreThereForEveryShippedRecipe) {
  std::set<std::string> rows;
  for (const auto& row : kernel_budgets()) rows.insert(row.model);
  for (const auto& file : std::filesystem::directory_iterator(test::in_source("recipes")))
    if (const auto name = file.path().filename().string(); name.ends_with(".yaml")) {
      EXPECT_TRUE(rows.contains("recipes/" + name)) << name;
    }
}

at::Tensor target_of(Given given, std::vector<std::int64_t> shape) {
  if (given == Given::label) return at::full({shape[0]}, 1, at::kLong);
  if (given == Given::pixel_label) return at::full({shape[0], shape[2]}, 1, at::kLong);
  return at::full(shape, 0.25);
}

class LossOnADevice : public testing::TestWithParam<TriedLoss> {};

TEST_P(LossOnADevice, NeitherWaitsNorCopiesItsWeightsAgain) {
  const auto device = test::simulated_device();
  for (auto c : GetParam().cases) {
    auto recipe = c.options.is_null() ? nlohmann::json::object() : c.options;
    recipe["type"] = GetParam().name;
    const auto loss = catalog<Loss>().build(fragment<Loss>(recipe), LossContext{});
    std::vector<std::int64_t> shape{3, 4};
    if (c.given == Given::pixel_label) shape.push_back(2);
    const auto output = at::rand(shape).to(device).set_requires_grad(true);
    const auto target = target_of(c.given, shape).to(device);
    LossTerms far;
    for (int pass = 0; pass < 2; ++pass) {
      simulated::reset();
      far = (*loss)(output, target);
      far.values.sum().backward();
    }
    const auto counts = simulated::counts();
    const auto near = (*loss)(output.detach().cpu(), target.cpu());
    EXPECT_LT(test::largest_difference(far.values.detach().cpu(), near.values), 1e-6) << recipe;
    EXPECT_EQ(test::largest_difference(far.weights.cpu(), near.weights), 0) << recipe;
    EXPECT_EQ(counts.waited(), 0) << recipe << counts.waits.begin()->first;
    EXPECT_EQ(counts.from_pageable + counts.from_pinned, 0) << recipe;
  }
}

INSTANTIATE_TEST_SUITE_P(Losses, LossOnADevice, testing::ValuesIn(tried_losses()),
                         [](const auto& tried) { return tried.param.name; });

}  // namespace
}  // namespace ddptrain
