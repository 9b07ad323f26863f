#include "optim/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "optim/parameters.h"

namespace ddptrain::testing_optim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

class Layer : public Module {
 public:
  explicit Layer(bool norm = false) : norm_(norm) {
    parameter("weight", doubles({1}));
    parameter("bias", doubles({0}));
  }
  at::Tensor forward(const at::Tensor& input, const Pass&) override { return input; }
  bool is_norm() const override { return norm_; }

 private:
  bool norm_;
};

class Net : public Module {
 public:
  Net() {
    make<Layer>("conv");
    make<Layer>("bn", true);
    make<Layer>("head.fc");
  }
  at::Tensor forward(const at::Tensor& input, const Pass&) override { return input; }
};

std::vector<std::string> names_of(const ParameterGroup& group) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : group.parameters) names.push_back(name);
  return names;
}

TEST(Groups, OneGroupWhereEverythingDecays) {
  Net net;
  const auto groups = group_parameters(net, {});
  ASSERT_EQ(groups.size(), 1);
  EXPECT_EQ(groups[0].name, "decay");
  EXPECT_EQ(groups[0].parameters.size(), 6);
}

TEST(Groups, NormMeansEveryParameterOfNormalizationLayers) {
  Net net;
  const auto groups = group_parameters(net, {"norm"});
  ASSERT_EQ(groups.size(), 2);
  EXPECT_THAT(names_of(groups[1]), ElementsAre("bn.weight", "bn.bias"));
  EXPECT_EQ(groups[0].decay_scale, 1);
  EXPECT_EQ(groups[1].decay_scale, 0);
}

TEST(Groups, BiasMeansEveryBias) {
  Net net;
  EXPECT_THAT(names_of(group_parameters(net, {"bias"})[1]),
              ElementsAre("conv.bias", "bn.bias", "head.fc.bias"));
}

TEST(Groups, PatternsMatchDottedNames) {
  Net net;
  EXPECT_THAT(names_of(group_parameters(net, {"head.*"})[1]),
              ElementsAre("head.fc.weight", "head.fc.bias"));
}

TEST(Groups, NothingIsInTwoGroups) {
  Net net;
  const auto groups = group_parameters(net, {"norm", "bias", "*.bias"});
  EXPECT_THAT(names_of(groups[0]), ElementsAre("conv.weight", "head.fc.weight"));
  EXPECT_EQ(groups[1].parameters.size(), 4);
}

TEST(Groups, NoGroupIsEmpty) {
  Net net;
  const auto groups = group_parameters(net, {"*"});
  ASSERT_EQ(groups.size(), 1);
  EXPECT_EQ(groups[0].name, "no_decay");
}

TEST(Groups, APatternThatMatchesNothingIsAnError) {
  Net net;
  EXPECT_THAT([&] { group_parameters(net, {"haed.*"}); },
              ThrowsMessage<Error>(HasSubstr("'haed.*' matches no parameter")));
}

class Tied : public Module {
 public:
  Tied() {
    const auto shared = parameter("encoder", doubles({1}));
    parameter("decoder", shared);
  }
  at::Tensor forward(const at::Tensor& input, const Pass&) override { return input; }
};

TEST(Groups, ATensorWithTwoNamesIsOneParameter) {
  Tied tied;
  EXPECT_THAT(names_of(group_parameters(tied, {})[0]), ElementsAre("encoder"));
}

}  // namespace
}  // namespace ddptrain::testing_optim
