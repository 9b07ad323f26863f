// What a device computes in another way than the CPU gives the CPU's numbers in double precision.
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

#include "models/layers/norm.h"
#include "models/texts.h"
#include "models/waves.h"
#include "optim/optimizer.h"
#include "simulated/use.h"
#include "support/node.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using test::largest_difference;
using test::make_model;

struct Computed {
  at::Tensor output;
  std::vector<at::Tensor> gradients;
};

Computed computed(const json& recipe, const ModelContext& context, const at::Tensor& input,
                  const Pass& pass, at::Device device) {
  const auto model = make_model(recipe, context);
  test::fill_with_waves(*model);
  model->to(device, at::kDouble);
  const auto here = input.is_floating_point() ? input.to(device, at::kDouble) : input.to(device);
  const auto output = model->forward(here, pass);
  output.square().sum().backward();
  Computed c{output.detach().cpu(), {}};
  for (const auto& [name, tensor] : model->named_parameters())
    c.gradients.push_back(tensor.grad().cpu());
  return c;
}

void expect_the_numbers_of_the_cpu(const json& recipe, const ModelContext& context,
                                   const at::Tensor& input, const Pass& pass) {
  const auto near = computed(recipe, context, input, pass, at::kCPU);
  const auto far = computed(recipe, context, input, pass, test::simulated_device());
  EXPECT_LT(largest_difference(far.output, near.output), 1e-12);
  for (std::size_t i = 0; i < near.gradients.size(); ++i) {
    const double size = near.gradients[i].abs().max().item<double>() + 1e-3;
    EXPECT_LT(largest_difference(far.gradients[i], near.gradients[i]) / size, 1e-11) << i;
  }
}

const json awd_lstm = {{"type", "awd_lstm"}, {"emb_sz", 6},    {"n_hid", 8},
                       {"bptt", 4},          {"max_len", 8},   {"lin_ftrs", {5}},
                       {"drop_mult", 0.5},   {"bidir", false}, {"n_layers", 2}};

TEST(AwdLstmOnADevice, ComputesRowsThatTakeNoPartAndLeavesThemOut) {
  const Pass training{.training = true, .seed = 3, .step = 5, .first_row = 2};
  expect_the_numbers_of_the_cpu(awd_lstm, test::text_context(), test::three_texts(), training);
  expect_the_numbers_of_the_cpu(awd_lstm, test::text_context(), test::three_texts(), {});
}

TEST(AwdLstmOnADevice, RefusesRowsThatArePaddedOtherwise) {
  const auto model = make_model(awd_lstm, test::text_context());
  const auto device = test::simulated_device();
  model->to(device, at::kFloat);
  const auto texts = test::tokens({{2, 3, 4, 5, 6, 7, 8}, {1, 1, 4, 5, 6, 7, 8}}).to(device);
  EXPECT_THAT([&] { model->forward(texts, {.training = true}); },
              testing::ThrowsMessage<std::exception>(
                  testing::HasSubstr("write 'data.padding: {side: chunks, chunk: 4}'")));
}

// 64 x 64 is 16 x 16 patches, which windows of 7 cover in 3 x 3, the last of them in part.
TEST(SwinOnADevice, AttendsInShiftedWindowsAsOnTheCpu) {
  const json swin = {{"type", "swin_t"}, {"num_classes", 3}};
  ModelContext context;
  context.generator = test::seeded(1);
  expect_the_numbers_of_the_cpu(swin, context, test::noise({1, 3, 64, 64}), {.training = true});
}

TEST(BatchNormOnADevice, AveragesAllBatchesWithoutReadingTheirNumber) {
  BatchNormOptions all;
  all.momentum = std::nullopt;
  BatchNorm near(3, all), far(3, all);
  near.to(at::kCPU, at::kDouble);
  far.to(test::simulated_device(), at::kDouble);
  for (int batch = 0; batch < 3; ++batch) {
    const auto rows = test::noise({7, 3, 4, 4}).to(at::kDouble);
    const auto there = rows.to(test::simulated_device());
    simulated::reset();
    const auto output = far.forward(there, {.training = true});
    EXPECT_EQ(simulated::counts().waited(), 0);
    EXPECT_LT(largest_difference(output.cpu(), near.forward(rows, {.training = true})), 1e-12);
  }
  EXPECT_LT(largest_difference(far.running_mean().cpu(), near.running_mean()), 1e-12);
  EXPECT_LT(largest_difference(far.running_var().cpu(), near.running_var()), 1e-12);
}

/// Parameters after three steps, on the CPU.
std::vector<at::Tensor> moved_by_adafactor(const json& recipe, at::Device device) {
  std::vector<NamedTensor> parameters;
  for (const auto& shape : std::vector<std::vector<std::int64_t>>{{4, 5}, {7}})
    parameters.push_back(
        {"p" + std::to_string(parameters.size()),
         at::ones(shape, at::kDouble).mul(0.3).to(device).set_requires_grad(true)});
  const auto optimizer = catalog<Optimizer>().build(
      fragment<Optimizer>(recipe), std::vector<ParameterGroup>{{"decay", parameters}});
  for (int step = 1; step <= 3; ++step) {
    for (const auto& [name, tensor] : parameters)
      tensor.mutable_grad() = test::wave(tensor.sizes(), tensor.numel(), step).to(device);
    simulated::reset();
    optimizer->step({.lr = 0.1});
    EXPECT_EQ(simulated::counts().waited(), 0);
  }
  std::vector<at::Tensor> all;
  for (const auto& [name, tensor] : parameters) all.push_back(tensor.detach().cpu());
  return all;
}

TEST(AdafactorOnADevice, StepsAsOnTheCpuWithoutWaiting) {
  json recipe = {{"type", "adafactor"}, {"lr", 0.1}, {"weight_decay", 0.01}};
  for (const auto* like : {"torch", "transformers"}) {
    recipe["like"] = like;
    const auto near = moved_by_adafactor(recipe, at::kCPU),
               far = moved_by_adafactor(recipe, test::simulated_device());
    for (std::size_t i = 0; i < near.size(); ++i)
      EXPECT_LT(largest_difference(far[i], near[i]), 1e-15) << like;
    recipe["beta1"] = 0.9;
    recipe["scale_parameter"] = false;
  }
}

}  // namespace
}  // namespace ddptrain
