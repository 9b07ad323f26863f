// Bodies as heads see them: features at several depths out of one pass.
#include "models/vision/body.h"

#include <ATen/ops/conv2d.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/upsample_nearest2d.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/layers/convolution.h"
#include "models/nets.h"

namespace ddptrain {
namespace {

using test::make_model;
using test::noise;

std::unique_ptr<Model> network(const std::string& name) {
  return make_model({{"type", name}, {"num_classes", 3}});
}

struct Expected {
  std::string network;
  // channels, height (and width) of an image of 64 x 64, reduction: the papers' tables, by
  // torchvision's (xresnet: fastai's) definitions
  std::vector<std::array<std::int64_t, 3>> depths;
};

std::vector<Expected> bodies() {
  return {
      {"resnet18", {{64, 32, 2}, {64, 16, 4}, {128, 8, 8}, {256, 4, 16}, {512, 2, 32}}},
      {"xresnet18", {{64, 32, 2}, {64, 16, 4}, {128, 8, 8}, {256, 4, 16}, {512, 2, 32}}},
      {"xresnet18_deep",
       {{64, 32, 2},
        {64, 16, 4},
        {128, 8, 8},
        {256, 4, 16},
        {512, 2, 32},
        {256, 1, 64},
        {256, 1, 128}}},
      {"vgg11", {{64, 64, 1}, {128, 32, 2}, {256, 16, 4}, {512, 8, 8}, {512, 4, 16}, {512, 2, 32}}},
      {"densenet121", {{64, 32, 2}, {256, 16, 4}, {512, 8, 8}, {1024, 4, 16}, {1024, 2, 32}}},
      {"mobilenet_v2", {{16, 32, 2}, {24, 16, 4}, {32, 8, 8}, {96, 4, 16}, {1280, 2, 32}}},
      {"mobilenet_v3_small", {{16, 32, 2}, {16, 16, 4}, {24, 8, 8}, {48, 4, 16}, {576, 2, 32}}},
      {"efficientnet_b0", {{16, 32, 2}, {24, 16, 4}, {40, 8, 8}, {112, 4, 16}, {1280, 2, 32}}},
      {"convnext_tiny", {{96, 16, 4}, {192, 8, 8}, {384, 4, 16}, {768, 2, 32}}},
      // without padding: (64 - 3) / 2 + 1 = 31, then halved upwards by windows of 3
      {"squeezenet1_1", {{64, 31, 2}, {128, 15, 4}, {256, 7, 8}, {512, 3, 16}}},
      // (64 + 4 - 11) / 4 + 1 = 15, then windows of 3
      {"alexnet", {{64, 15, 4}, {192, 7, 8}, {256, 3, 16}, {256, 1, 32}}},
  };
}

class Bodies : public testing::TestWithParam<Expected> {};

// No later layer overwrites what was handed out, and the last features are the body's output.
TEST_P(Bodies, HandOutFeaturesAtEveryDepth) {
  const auto body = network(GetParam().network)->take_body();
  const auto depths = depths_of(*body.layers, 3);
  const auto image = noise({1, 3, 64, 64});
  const auto features = features_at(depths, *body.layers, image, Pass{});
  ASSERT_EQ(depths.size(), GetParam().depths.size());
  ASSERT_EQ(features.size(), depths.size());
  for (std::size_t i = 0; i < depths.size(); ++i) {
    const auto& [channels, size, reduction] = GetParam().depths[i];
    EXPECT_EQ(depths[i].channels, channels) << "depth " << i;
    EXPECT_EQ(depths[i].reduction, reduction) << "depth " << i;
    EXPECT_EQ(features[i].sizes(), (at::IntArrayRef{1, channels, size, size})) << "depth " << i;
    const auto alone = features_at({depths[i]}, *body.layers, image, Pass{});
    EXPECT_TRUE(at::equal(features[i], alone.at(0))) << "depth " << i;
  }
  EXPECT_TRUE(at::equal(features.back(), body.layers->forward(image, Pass{})));
}

INSTANTIATE_TEST_SUITE_P(Networks, Bodies, testing::ValuesIn(bodies()),
                         [](const auto& body) { return body.param.network; });

/// The smallest head that needs every depth: classes of each pixel as the sum of 1x1 convolutions
/// of all features, enlarged.
class PixelClassifier final : public Model {
 public:
  PixelClassifier(const std::string& name, std::int64_t classes) {
    auto body = network(name)->take_body();
    body_ = child("0", std::move(body.layers));
    depths_ = depths_of(*body_, 3);
    for (const auto& depth : depths_) {
      const ConvolutionShape shape{.in = depth.channels, .out = classes};
      heads_.push_back(
          make<Convolution>("head" + std::to_string(depth.reduction), shape, test::seeded(2)));
    }
  }

  at::Tensor forward(const at::Tensor& input, const Pass& pass) override {
    const auto size = input.sizes().slice(2);
    const auto features = features_at(depths_, *body_, input, pass);
    at::Tensor sum;
    for (std::size_t i = 0; i < features.size(); ++i) {
      const auto scores = heads_[i]->forward(features[i], pass);
      const auto enlarged = at::upsample_nearest2d(scores, size);
      sum = sum.defined() ? sum.add(enlarged) : enlarged;
    }
    return sum;
  }

 private:
  Sequence* body_;
  std::vector<Depth> depths_;
  std::vector<Convolution*> heads_;
};

TEST(HeadOfSeveralDepths, ClassifiesPixelsOfImagesOfAnySizeAndTrainsTheWholeBody) {
  for (const auto* name : {"resnet18", "mobilenet_v2"}) {
    PixelClassifier model(name, 3);
    const auto classes = model.forward(noise({2, 3, 65, 50}), {.training = true});
    EXPECT_EQ(classes.sizes(), (at::IntArrayRef{2, 3, 65, 50})) << name;
    classes.square().sum().backward();
    for (const auto& [parameter, tensor] : model.named_parameters())
      EXPECT_TRUE(tensor.grad().defined()) << name << " " << parameter;
  }
}

// A checkpoint of a body fits under any head.
TEST(HeadOfSeveralDepths, KeepsTheNamesOfTheBody) {
  const auto learner =
      make_model({{"type", "vision_learner"}, {"body", "resnet18"}, {"num_classes", 3}});
  PixelClassifier pixels("resnet18", 3);
  const auto names_of = [](const Module& model) {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : model.state())
      if (name.starts_with("0.")) names.push_back(name);
    return names;
  };
  EXPECT_THAT(names_of(pixels), testing::ElementsAreArray(names_of(*learner)));
}

// torchvision.models.densenet121().features, whose steps without weights have names too.
TEST(DenseNet, HasTorchvisionsSteps) {
  const auto body = network("densenet121")->take_body();
  std::vector<std::string> steps;
  for (auto* step : body.layers->children().front()->children()) steps.push_back(step->path());
  EXPECT_THAT(steps,
              testing::ElementsAre("0.conv0", "0.norm0", "0.relu0", "0.pool0", "0.denseblock1",
                                   "0.transition1", "0.denseblock2", "0.transition2",
                                   "0.denseblock3", "0.transition3", "0.denseblock4", "0.norm5"));
}

}  // namespace
}  // namespace ddptrain
