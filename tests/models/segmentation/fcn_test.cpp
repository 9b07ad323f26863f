// fcn and deeplabv3 on any body; tests/golden holds layouts and outputs to torchvision's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/layer_groups.h"
#include "models/nets.h"
#include "models/vision/body.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using test::make_model;
using test::noise;
using testing::ElementsAre;

json recipe(const char* type, const std::string& body, const json& more = json::object()) {
  return test::with({{"type", type}, {"body", body}, {"num_classes", 3}}, more);
}

struct Net {
  const char* type;
  const char* body;
};

class PixelNets : public testing::TestWithParam<Net> {};

TEST_P(PixelNets, ScoreEachPixelAndTrainEveryParameter) {
  const auto& [type, body] = GetParam();
  const auto model = make_model(recipe(type, body, {{"aux_loss", 0.4}}));
  AuxiliaryOutputs auxiliary;
  const auto output =
      model->forward(noise({2, 3, 65, 50}), {.training = true, .auxiliary = &auxiliary});
  EXPECT_EQ(output.sizes(), (at::IntArrayRef{2, 3, 65, 50}));
  ASSERT_EQ(auxiliary.all().size(), 1U);
  EXPECT_EQ(auxiliary.all()[0].weight, 0.4);
  EXPECT_EQ(auxiliary.all()[0].output.sizes(), output.sizes());
  output.square().sum().add(auxiliary.all()[0].output.square().sum()).backward();
  for (const auto& [name, tensor] : model->named_parameters())
    EXPECT_TRUE(tensor.grad().defined()) << name;
}

INSTANTIATE_TEST_SUITE_P(Bodies, PixelNets,
                         testing::Values(Net{"fcn", "resnet18"}, Net{"fcn", "vgg11"},
                                         Net{"fcn", "xresnet18"}, Net{"deeplabv3", "resnet50"},
                                         Net{"deeplabv3", "mobilenet_v3_small"}),
                         [](const auto& net) {
                           return std::string(net.param.type) + "_" + net.param.body;
                         });

TEST(Fcn, WithoutAnAuxiliaryLossHasOneHead) {
  const auto model = make_model(recipe("fcn", "resnet18"));
  AuxiliaryOutputs auxiliary;
  model->forward(noise({1, 3, 64, 64}), {.auxiliary = &auxiliary});
  EXPECT_TRUE(auxiliary.all().empty());
  EXPECT_THAT(model->own_parts(), ElementsAre("classifier"));
}

TEST(Fcn, NeedsNobodyToAskForItsAuxiliaryOutput) {
  const auto model = make_model(recipe("fcn", "resnet18", {{"aux_loss", 0.5}}));
  EXPECT_EQ(model->forward(noise({1, 3, 64, 64}), {}).sizes(), (at::IntArrayRef{1, 3, 64, 64}));
}

// torchvision's pretrained bodies fit.
TEST(Fcn, TellsHowTheOtherNetworkCallsItsPart) {
  const auto resnet = make_model(recipe("fcn", "resnet18"));
  EXPECT_EQ(resnet->borrowed_names().at("layer1."), "backbone.layer1.");
  const auto mobile = make_model(recipe("deeplabv3", "mobilenet_v3_small"));
  EXPECT_EQ(mobile->borrowed_names().at("features."), "backbone.");
}

TEST(Fcn, HasTheLayerGroupsOfItsBodyAndItsHeads) {
  const auto groups = layer_groups(*make_model(recipe("fcn", "resnet18", {{"aux_loss", 0.5}})));
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].front(), "backbone.conv1.weight");
  EXPECT_EQ(groups[1].front(), "backbone.layer3.0.conv1.weight");
  EXPECT_EQ(groups[2].front(), "classifier.0.weight");
  EXPECT_EQ(groups[2].back(), "aux_classifier.4.bias");
}

// Long et al.: 32 times smaller; torchvision: 8 times.
TEST(Fcn, KeepsTheSizeOfFeaturesByDilation) {
  const auto gives = [](const json& body) {
    const auto model = make_model(test::with({{"type", "resnet50"}, {"num_classes", 2}}, body));
    return model->take_body().layers->forward(noise({1, 3, 64, 64}), {}).size(2);
  };
  EXPECT_EQ(gives({{"dilated", false}}), 2);
  EXPECT_EQ(gives({{"dilated", true}}), 8);
}

}  // namespace
}  // namespace ddptrain
