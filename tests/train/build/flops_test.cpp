// Operations of forward passes, against torch.utils.flop_counter.FlopCounterMode (torch 2.11).
#include "train/build/flops.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/conv_transpose2d.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "models/model.h"
#include "support/node.h"

namespace ddptrain {
namespace {

std::int64_t flops_of(const nlohmann::json& recipe, std::int64_t side) {
  ModelContext context;
  context.data.sample = {3, side, side};
  const auto model = catalog<Model>().build(fragment<Model>(recipe), context);
  const at::NoGradGuard no_grad;
  const FlopCounter counter;
  model->forward(at::randn({1, 3, side, side}), {});
  return counter.count();
}

// torch's counter leaves out the CPU's fused attention: in 2 blocks 2 products of 17 tokens by 17
// for 4 heads of 16 numbers.
constexpr std::int64_t attention = 2 * 2 * 2 * 17 * 17 * 4 * 16;

TEST(Flops, AreThePeersOfTorchvisionsNetworks) {
  EXPECT_EQ(flops_of({{"type", "resnet18"}, {"num_classes", 1000}}, 64), 297115648);
  EXPECT_EQ(flops_of({{"type", "mobilenet_v2"}, {"num_classes", 1000}}, 64), 51457024);
  EXPECT_EQ(flops_of({{"type", "squeezenet1_1"}, {"num_classes", 1000}}, 64), 43169152);
  EXPECT_EQ(flops_of({{"type", "vit"},
                      {"patch_size", 8},
                      {"num_layers", 2},
                      {"num_heads", 4},
                      {"hidden_dim", 64},
                      {"mlp_dim", 128},
                      {"num_classes", 10}},
                     32),
            2622720 + attention);
}

TEST(Flops, OfATransposedConvolutionAreOfEachInput) {
  const FlopCounter counter;
  at::conv_transpose2d(at::randn({1, 3, 10, 10}), at::randn({3, 8, 3, 3}), {}, 2);
  EXPECT_EQ(counter.count(), 43200);
}

// fvcore's count of torchvision's resnet18: 1.814 * 10^9 multiply-adds at 224 pixels.
TEST(Flops, OfResnet18AtItsUsualSizeAreThoseOfTheLiterature) {
  EXPECT_NEAR(static_cast<double>(flops_of({{"type", "resnet18"}, {"num_classes", 1000}}, 224)) / 2,
              1.814e9, 0.001e9);
}

/// Forward and backward passes of two samples.
std::int64_t flops_of_training(const nlohmann::json& recipe,
                               const std::vector<std::int64_t>& sample, bool input_gradient) {
  ModelContext context;
  if (sample.size() == 3) context.data.sample = sample;
  context.data.classes.resize(3);
  const auto model = catalog<Model>().build(fragment<Model>(recipe), context);
  std::vector<std::int64_t> shape{2};
  shape.insert(shape.end(), sample.begin(), sample.end());
  const auto input = at::randn(shape).requires_grad_(input_gradient);
  const FlopCounter counter;
  model->forward(input, Pass{.training = true}).sum().backward();
  return counter.count();
}

// A layer's weights cost as much as its pass, and so does its input where that needs a gradient.
TEST(Flops, OfABackwardPassAreTwiceThoseOfTheForwardPass) {
  const nlohmann::json linear{{"type", "linear"}, {"out", 8}};
  const nlohmann::json mlp{{"type", "sequential"},
                           {"input", {5}},
                           {"layers", {linear, {{"type", "linear"}, {"out", 3}}}}};
  // Of two channels and of 128, whose convolutions of maps this small are of different operators.
  for (const std::int64_t channels : {2, 128}) {
    const nlohmann::json layer{{"type", "conv"}, {"out", channels}, {"kernel", 3}, {"padding", 1}};
    const auto each = 2 * 2 * (2 * 2) * 9 * channels * channels;
    EXPECT_EQ(flops_of_training({{"type", "sequential"}, {"layers", {layer, layer}}},
                                {channels, 2, 2}, true),
              6 * each);
  }
  const auto first = 2 * 2 * 5 * 8, second = 2 * 2 * 8 * 3;
  EXPECT_EQ(flops_of_training(mlp, {5}, true), 3 * (first + second));
  EXPECT_EQ(flops_of_training(mlp, {5}, false), 2 * first + 3 * second);
  const nlohmann::json convolution{{"type", "resnet18"}, {"num_classes", 3}};
  EXPECT_EQ(flops_of_training(convolution, {3, 32, 32}, true),
            3 * 2 * flops_of({{"type", "resnet18"}, {"num_classes", 3}}, 32));
}

TEST(Flops, AreCountedWhileTheCounterLives) {
  const auto a = at::randn({2, 3}), b = at::randn({3, 5});
  at::mm(a, b);
  {
    const FlopCounter counter;
    EXPECT_EQ(counter.count(), 0);
    at::mm(a, b);
    EXPECT_EQ(counter.count(), 2 * 2 * 3 * 5);
  }
  const FlopCounter again;
  EXPECT_EQ(again.count(), 0);
}

}  // namespace
}  // namespace ddptrain
