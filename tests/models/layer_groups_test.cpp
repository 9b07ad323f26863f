#include "models/layer_groups.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "models/nets.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Parameters 0.weight, 1.weight, 1.bias, 4.weight, 4.bias.
std::unique_ptr<Model> small_net() {
  return test::make_model({{"type", "sequential"},
                           {"input", {3, 4, 4}},
                           {"layers",
                            {{{"type", "conv"}, {"out", 4}, {"kernel", 3}, {"bias", false}},
                             "batch_norm",
                             {{"type", "adaptive_avg_pool"}, {"size", 1}},
                             "flatten",
                             {{"type", "linear"}, {"out", 2}}}}});
}

TEST(LayerGroups, AreBodyAndHeadUnlessAModelSaysMore) {
  EXPECT_THAT(layer_groups(*small_net()), ElementsAre(ElementsAre("0.weight", "1.weight", "1.bias"),
                                                      ElementsAre("4.weight", "4.bias")));
}

TEST(LayerGroups, FollowPatternsOfWhichTheFirstDecides) {
  EXPECT_THAT(layer_groups(*small_net(), {{"0.*"}, {"*.bias"}, {"*"}}),
              ElementsAre(ElementsAre("0.weight"), ElementsAre("1.bias", "4.bias"),
                          ElementsAre("1.weight", "4.weight")));
}

TEST(LayerGroups, RefusePatternsThatDoNotDivideTheModel) {
  const auto net = small_net();
  EXPECT_THAT(
      [&] {
        layer_groups(*net, {{"0.*"}, {"4.*"}});
      },
      ThrowsMessage<Error>(HasSubstr("'1.weight' is in none of the groups")));
  EXPECT_THAT(
      [&] {
        layer_groups(*net, {{"*"}, {"stem.*"}});
      },
      ThrowsMessage<Error>(HasSubstr("'stem.*' matches no parameter")));
}

TEST(Frozen, CountsGroupsFromEitherEndAndSparesNorms) {
  const auto net = small_net();
  const auto groups = layer_groups(*net);
  EXPECT_THAT(frozen_before(*net, groups, -1, true).parameters, ElementsAre("0.weight"));
  EXPECT_THAT(frozen_before(*net, groups, 1, false).parameters,
              ElementsAre("0.weight", "1.weight", "1.bias"));
  EXPECT_TRUE(frozen_before(*net, groups, 0, false).parameters.empty());
  EXPECT_THAT([&] { frozen_before(*net, groups, 2, true); },
              ThrowsMessage<Error>(HasSubstr("the model has 2 layer groups")));
  EXPECT_THROW(frozen_before(*net, groups, -3, true), Error);
}

TEST(Freeze, TakesGradientsAwayAndGivesThemBack) {
  const auto net = small_net();
  freeze(*net, {{"0.weight"}, false});
  EXPECT_FALSE(net->named_parameters()[0].tensor.requires_grad());
  EXPECT_TRUE(net->named_parameters()[1].tensor.requires_grad());
  freeze(*net, {});
  EXPECT_TRUE(net->named_parameters()[0].tensor.requires_grad());
}

// fastai's BnFreeze: a frozen batch norm is in evaluation mode.
TEST(Freeze, KeepsStatisticsOnlyWhereAskedTo) {
  const auto net = small_net();
  const std::vector<std::string> norm{"1.weight", "1.bias"};
  const auto mean = [&] { return net->named_buffers()[0].tensor.clone(); };
  const auto input = at::ones({2, 3, 4, 4});
  const auto first = mean();
  freeze(*net, {norm, true});
  const auto still = net->forward(input, Pass{true});
  EXPECT_TRUE(at::equal(mean(), first));
  EXPECT_TRUE(at::equal(still, net->forward(input, Pass{})));
  freeze(*net, {norm, false});
  net->forward(input, Pass{true});
  EXPECT_FALSE(at::equal(mean(), first));
  const auto second = mean();
  freeze(*net, {{"1.weight"}, true});  // its bias trains
  net->forward(input, Pass{true});
  EXPECT_FALSE(at::equal(mean(), second));
}

/// A rule reports to recipes what a body may be (recipe/rules/model.cpp).
TEST(VisionLearner, ABodyIsLentAndHasNoHead) {
  const auto make = [](const nlohmann::json& body) {
    test::make_model({{"type", "vision_learner"}, {"body", body}, {"num_classes", 2}});
  };
  EXPECT_DEATH(make("mnist_net"), "this network has no body to lend");
  EXPECT_DEATH(make({{"type", "resnet18"}, {"weights", "a.pth"}}), "no head of its own");
  EXPECT_DEATH(make({{"type", "resnet18"}, {"num_classes", 7}}), "no head of its own");
  EXPECT_NO_THROW(make({{"type", "resnet18"}, {"num_classes", "auto"}, {"weights", nullptr}}));
}

// fastai.vision.learner.model_meta has no entry for it, and default_split makes two groups.
TEST(VisionLearner, OfVgg11HasItsBodyInOneGroup) {
  const auto net =
      test::make_model({{"type", "vision_learner"}, {"body", "vgg11"}, {"num_classes", 2}});
  const auto groups = layer_groups(*net);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].size(), 16U);  // weights and biases of 8 convolutions
  EXPECT_EQ(groups[0].back(), "0.0.18.bias");
  EXPECT_EQ(groups[1].front(), "1.2.weight");
}

TEST(VisionLearner, TellsHowTheOtherNetworkCallsItsPart) {
  const auto net =
      test::make_model({{"type", "vision_learner"}, {"body", "resnet18"}, {"num_classes", 2}});
  EXPECT_EQ(net->borrowed_names().at("layer1."), "0.4.");
  EXPECT_THAT(net->own_parts(), ElementsAre("1"));
}

}  // namespace
}  // namespace ddptrain
