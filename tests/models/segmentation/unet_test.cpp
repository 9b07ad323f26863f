// U-Nets on any body; tests/golden holds layout and outputs to fastai's.
#include <ATen/ops/equal.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/layer_groups.h"
#include "models/nets.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using test::find;
using test::make_model;
using test::noise;
using testing::ElementsAre;

json unet(const std::string& body, const json& more = json::object()) {
  return test::with({{"type", "unet"}, {"body", body}, {"num_classes", 3}}, more);
}

class Unets : public testing::TestWithParam<const char*> {};

// Sizes that no body halves evenly, and more layers than a small image lasts.
TEST_P(Unets, ScoreEachPixelOfImagesOfAnySizeAndTrainTheWholeBody) {
  const auto model = make_model(unet(GetParam()));
  const auto output = model->forward(noise({2, 3, 81, 70}), {.training = true});
  EXPECT_EQ(output.sizes(), (at::IntArrayRef{2, 3, 81, 70}));
  output.square().sum().backward();
  for (const auto& [name, tensor] : model->named_parameters())
    EXPECT_TRUE(tensor.grad().defined()) << name;
}

INSTANTIATE_TEST_SUITE_P(Bodies, Unets,
                         testing::Values("resnet18", "xresnet18", "vgg11", "densenet121",
                                         "mobilenet_v2", "efficientnet_b0", "squeezenet1_1",
                                         "alexnet"),
                         [](const auto& body) { return std::string(body.param); });

TEST(Unet, HasAsManyOutputsAsTheMasksHaveClasses) {
  ModelContext context;
  context.data.sample = {1, 32, 32};
  context.data.mask = MaskFacts{.classes = 5, .void_code = 255};
  const auto model = make_model({{"type", "unet"}, {"body", "resnet18"}}, context);
  EXPECT_EQ(model->forward(noise({1, 1, 32, 32}), {}).sizes(), (at::IntArrayRef{1, 5, 32, 32}));
}

TEST(Unet, TakesABatchWithoutRows) {
  const auto model = make_model(unet("resnet18", {{"self_attention", true}, {"blur", true}}));
  for (const auto size : {64, 75}) {
    const auto output = model->forward(noise({0, 3, size, size}), {.training = true});
    EXPECT_EQ(output.sizes(), (at::IntArrayRef{0, 3, size, size}));
    output.sum().backward();
  }
}

// fastai.layers.icnr_init and apply_init.
TEST(Unet, BeginsAsFastaisDo) {
  const auto model = make_model(unet("resnet18", {{"self_attention", true}}));
  const auto state = model->state();
  const auto shuffled = find(state, "layers.4.shuf.0.0.weight").view({256, 4, 512});
  EXPECT_TRUE(at::equal(shuffled, shuffled.select(1, 0).unsqueeze(1).expand({256, 4, 512})));
  EXPECT_NEAR(shuffled.std().item<double>(), std::sqrt(2.0 / 512), 1e-3);
  for (const auto* name : {"layers.3.0.0", "layers.4.conv1.0", "layers.11.convpath.1.0"}) {
    const auto weight = find(state, std::string(name) + ".weight");
    const auto fan = static_cast<double>(weight.numel() / weight.size(0));
    EXPECT_NEAR(weight.std().item<double>() * std::sqrt(fan / 2), 1, 0.02) << name;
    EXPECT_EQ(find(state, std::string(name) + ".bias").abs().max().item<double>(), 0) << name;
  }
  EXPECT_FLOAT_EQ(find(state, "layers.1.bias").min().item<float>(), 1e-3F);
  EXPECT_EQ(find(state, "layers.5.conv2.2.gamma").item<double>(), 0);
}

// L(m[0][:6], m[0][6:], m[1:]) of fastai.vision.learner.
TEST(Unet, HasTheLayerGroupsOfItsBodyAndOneMore) {
  const auto model = make_model(unet("resnet18"));
  const auto groups = layer_groups(*model);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].front(), "layers.0.0.weight");
  EXPECT_EQ(groups[1].front(), "layers.0.6.0.conv1.weight");
  EXPECT_EQ(groups[2].front(), "layers.1.weight");
  EXPECT_EQ(groups[2].back(), "layers.12.0.bias");
}

TEST(Unet, TellsHowTheOtherNetworkCallsItsPartAndWhatItLacks) {
  const auto model = make_model(unet("resnet18"));
  EXPECT_EQ(model->borrowed_names().at("layer1."), "layers.0.4.");
  EXPECT_THAT(model->own_parts(),
              ElementsAre("layers.1", "layers.3", "layers.4", "layers.5", "layers.6", "layers.7",
                          "layers.8", "layers.11", "layers.12"));
}

TEST(Unet, WithoutTheImageHasFewerLayers) {
  const auto model = make_model(unet("resnet18", {{"last_cross", false}}));
  EXPECT_EQ(find(model->state(), "layers.10.0.weight").sizes(), (at::IntArrayRef{3, 96, 1, 1}));
  EXPECT_EQ(model->forward(noise({1, 3, 32, 32}), {}).sizes(), (at::IntArrayRef{1, 3, 32, 32}));
}

TEST(Unet, ThatIsBottledHasHalfTheChannelsWithin) {
  const auto model = make_model(unet("resnet18", {{"bottle", true}}));
  EXPECT_EQ(find(model->state(), "layers.11.convpath.0.0.weight").sizes(),
            (at::IntArrayRef{49, 99, 3, 3}));
  EXPECT_EQ(model->forward(noise({1, 3, 32, 32}), {}).sizes(), (at::IntArrayRef{1, 3, 32, 32}));
}

TEST(Unet, KeepsItsOutputsInTheirRange) {
  const auto model = make_model(unet("resnet18", {{"y_range", {-1, 1}}}));
  const auto output = model->forward(noise({1, 3, 32, 32}).mul(100), {});
  EXPECT_GE(output.min().item<double>(), -1);
  EXPECT_LE(output.max().item<double>(), 1);
}

// What a GPU computes in channels_last is what the CPU's operator does.
TEST(Unet, IsTheSameInChannelsLast) {
  const auto model = make_model(unet("resnet18", {{"self_attention", true}, {"blur", true}}));
  const auto image = noise({1, 3, 48, 40});
  const auto output = model->forward(image, {});
  model->channels_last();
  const auto other = model->forward(image.contiguous(at::MemoryFormat::ChannelsLast), {});
  EXPECT_LT(test::largest_difference(other, output), 1e-4);
}

TEST(VisionLearner, GivesTwoOutputsForEachPointAndOneForEachNumber) {
  const json recipe = {{"type", "vision_learner"}, {"body", "resnet18"}, {"y_range", {-1, 1}}};
  ModelContext context;
  context.data.points = 4;
  const auto points = make_model(recipe, context)->forward(noise({2, 3, 64, 64}), {});
  EXPECT_EQ(points.sizes(), (at::IntArrayRef{2, 8}));
  EXPECT_LE(points.abs().max().item<double>(), 1);
  context.data.points = 0;
  context.data.numbers = 3;
  EXPECT_EQ(make_model(recipe, context)->forward(noise({2, 3, 64, 64}), {}).sizes(),
            (at::IntArrayRef{2, 3}));
}

}  // namespace
}  // namespace ddptrain
