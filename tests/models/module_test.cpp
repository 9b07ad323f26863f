#include "models/module.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

namespace ddptrain {
namespace {

class Leaf final : public Module {
 public:
  Leaf()
      : scale(parameter("scale", at::ones({2, 3, 4, 4}))),
        count(buffer("count", at::zeros({}, at::kLong))) {}
  at::Tensor forward(const at::Tensor& input, const Pass&) override { return input; }
  at::Tensor scale, count;
};

class Root final : public Module {
 public:
  Root() {
    first = make<Leaf>("first");
    second = make<Leaf>("second");
    shift = parameter("shift", at::zeros({3}));
  }
  at::Tensor forward(const at::Tensor& input, const Pass&) override { return input; }
  Leaf* first;
  Leaf* second;
  at::Tensor shift;
};

std::vector<std::string> names(const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> all;
  for (const auto& t : tensors) all.push_back(t.name);
  return all;
}

using Names = std::vector<std::string>;

TEST(Module, NamesItsOwnTensorsBeforeItsChildrens) {
  Root root;
  EXPECT_EQ(names(root.named_parameters()), (Names{"shift", "first.scale", "second.scale"}));
  EXPECT_EQ(names(root.named_buffers()), (Names{"first.count", "second.count"}));
  EXPECT_EQ(names(root.state()),
            (Names{"shift", "first.scale", "first.count", "second.scale", "second.count"}));
}

class Tied final : public Module {
 public:
  Tied() {
    const auto shared = parameter("encoder", at::zeros({3}));
    parameter("decoder", shared);
  }
  at::Tensor forward(const at::Tensor& input, const Pass&) override { return input; }
};

// torch.nn.Module: named_parameters leaves the second name out, state_dict does not.
TEST(Module, ListsAParameterWithTwoNamesOnce) {
  Tied tied;
  EXPECT_EQ(names(tied.named_parameters()), (Names{"encoder"}));
  EXPECT_EQ(names(tied.state()), (Names{"encoder", "decoder"}));
}

TEST(Module, KnowsItsPathBelowTheRoot) {
  Root root;
  EXPECT_EQ(root.path(), "");
  EXPECT_EQ(root.second->path(), "second");
  ASSERT_EQ(root.modules().size(), 3U);
  EXPECT_EQ(root.modules()[2].first, "second");
  EXPECT_EQ(root.modules()[2].second, root.second);
}

TEST(Module, ConvertsFloatingTensorsInPlaceAndLeavesCountersWhole) {
  Root root;
  root.to(at::kCPU, at::kDouble);
  EXPECT_EQ(root.first->scale.scalar_type(), at::kDouble);
  EXPECT_EQ(root.first->count.scalar_type(), at::kLong);
  EXPECT_TRUE(root.first->scale.requires_grad());
  EXPECT_TRUE(root.first->scale.is_leaf());
}

TEST(Module, GivesFourDimensionalParametersChannelsLastStrides) {
  Root root;
  root.channels_last();
  EXPECT_TRUE(root.first->scale.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(root.shift.is_contiguous());
}

}  // namespace
}  // namespace ddptrain
