// Each layer of a vision transformer alone, at the sizes of ViT-L/14: names what differs where a
// whole network does.
#include <ATen/ops/randn_like.h>
#include <gtest/gtest.h>

#include <functional>

#include "gpu/device.h"
#include "models/layers/norm.h"
#include "models/layers/transformer.h"
#include "models/nets.h"

namespace ddptrain::gpu {
namespace {

constexpr std::int64_t kFeatures = 1024, kHidden = 4096, kHeads = 16;

struct TowerLayer {
  std::string name;
  std::vector<std::int64_t> input;
  std::function<std::unique_ptr<Module>(const at::Generator&)> make;
};

TowerLayer patches_of(std::int64_t size, bool bias) {
  const ConvolutionShape shape{
      .in = 3, .out = kFeatures, .kernel = size, .stride = size, .bias = bias};
  return {
      "patches_of_" + std::to_string(size) + (bias ? "_with_bias" : ""),
      {3, 3, 5 * size, 5 * size},
      [shape](const auto& generator) { return std::make_unique<Convolution>(shape, generator); }};
}

TowerLayer linear(std::int64_t in, std::int64_t out) {
  return {"linear_" + std::to_string(in) + "_" + std::to_string(out),
          {3, 26, in},
          [=](const auto& generator) { return std::make_unique<Linear>(in, out, generator); }};
}

/// Images of 64 pixels have 17 places (patches of 16 and a class token), those of 70 have 26.
TowerLayer attention_of(std::int64_t places) {
  return {
      "attention_of_" + std::to_string(places), {3, places, kFeatures}, [](const auto& generator) {
        return std::make_unique<MultiHeadAttention>(
            MultiHeadAttentionShape{.features = kFeatures, .heads = kHeads}, generator);
      }};
}

TowerLayer activation(const std::string& name, Activation which) {
  return {
      name, {3, 26, kHidden}, [which](const auto&) { return std::make_unique<Activate>(which); }};
}

std::vector<TowerLayer> tower_layers() {
  return {patches_of(14, false),
          patches_of(14, true),
          patches_of(16, false),
          patches_of(32, false),
          linear(kFeatures, 3 * kFeatures),
          linear(kFeatures, kHidden),
          linear(kHidden, kFeatures),
          attention_of(17),
          attention_of(26),
          {"layer_norm",
           {3, 26, kFeatures},
           [](const auto&) { return std::make_unique<LayerNorm>(kFeatures, 1e-5); }},
          activation("gelu", Activation::gelu),
          activation("quick_gelu", Activation::quick_gelu)};
}

struct NamedResult {
  std::string name;
  at::Tensor tensor;
};

std::vector<NamedResult> results_of(const TowerLayer& layer, c10::Device where,
                                    at::ScalarType type) {
  const auto random = test::seeded(29);
  const auto module = layer.make(random);
  module->to(where, type);
  const auto input =
      at::randn(layer.input, random, at::kDouble).to(where, type).set_requires_grad(true);
  const auto output = module->forward(input, test::training(3, 5));
  output.backward(at::randn(output.sizes(), random, at::kDouble).to(where, type));
  std::vector<NamedResult> all{{"output", output.detach()}, {"input", input.grad()}};
  for (const auto& [name, tensor] : module->named_parameters())
    all.push_back({name, tensor.grad()});
  return all;
}

class TowerLayerOfADevice : public testing::TestWithParam<TowerLayer> {
 protected:
  static void expect_the_results_of_the_cpu(const Tolerance& tolerance) {
    const auto near = results_of(GetParam(), at::kCPU, at::kDouble);
    const auto far = results_of(GetParam(), device(), tolerance.type);
    for (std::size_t i = 0; i < near.size(); ++i)
      EXPECT_LE(relative_distance(far[i].tensor, near[i].tensor), tolerance.distance)
          << near[i].name << " of " << tolerance.type;
  }
};

TEST_P(TowerLayerOfADevice, ComputesAsTheCpu) {
  expect_the_results_of_the_cpu({at::kDouble, 1e-12});
  expect_the_results_of_the_cpu({at::kFloat, 1e-4});
}

INSTANTIATE_TEST_SUITE_P(All, TowerLayerOfADevice, testing::ValuesIn(tower_layers()),
                         [](const auto& given) { return given.param.name; });

}  // namespace
}  // namespace ddptrain::gpu
