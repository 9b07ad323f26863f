#include "autograd/back_propagate.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/functions/utils.h>

#include <string>
#include <utility>
#include <vector>

#include "autograd/chain_node.h"
#include "autograd/torch_compat.h"

namespace ddptrain {
namespace {

using torch::autograd::variable_list;

/// What a chain's nodes did, in order.
using Calls = std::vector<std::string>;

/// Multiplies by a number, and notes its calls.
class Times final : public ChainNode {
 public:
  Times(torch::autograd::edge_list&& edges, double factor, Calls& calls)
      : ChainNode(std::move(edges)), factor_(factor), calls_(calls) {}
  void release_variables() override { calls_.push_back("release"); }
  variable_list apply(variable_list&& gradients) override {
    calls_.push_back("apply");
    return {gradients[0].mul(factor_)};
  }

 private:
  double factor_;
  Calls& calls_;
};

/// Keeps the gradient of what comes before it: its only edge leads to nothing.
class Last final : public ChainNode {
 public:
  explicit Last(at::Tensor& kept) : ChainNode(torch::autograd::edge_list(1)), kept_(kept) {}
  variable_list apply(variable_list&& gradients) override {
    kept_ = gradients[0];
    return variable_list(1);
  }

 private:
  at::Tensor& kept_;
};

at::Tensor first_of_chain(at::Tensor& kept) {
  auto output = at::ones({2});
  torch::autograd::set_history(output, make_node<Last>(kept));
  return output;
}

at::Tensor times(const at::Tensor& input, double factor, Calls& calls) {
  auto output = input.detach().mul(factor);
  torch::autograd::set_history(
      output, make_node<Times>(torch::autograd::collect_next_edges(input), factor, calls));
  return output;
}

TEST(BackPropagate, WalksAChainAndReleasesItsNodes) {
  Calls calls;
  at::Tensor kept;
  const auto output = times(times(first_of_chain(kept), 3, calls), 5, calls);
  back_propagate(output, at::tensor({1.0F, 2.0F}));
  EXPECT_TRUE(kept.equal(at::tensor({15.0F, 30.0F})));
  EXPECT_FALSE(kept.requires_grad());
  EXPECT_EQ(calls, (Calls{"apply", "release", "apply", "release"}));
}

TEST(BackPropagate, LeavesOtherGraphsToLibTorch) {
  Calls calls;
  const auto leaf = at::tensor({1.0F, 2.0F}).requires_grad_(true);
  const auto shared = times(leaf, 3, calls);
  back_propagate(shared.add(times(shared, 5, calls)), at::tensor({1.0F, 1.0F}));
  EXPECT_TRUE(leaf.grad().equal(at::tensor({18.0F, 18.0F})));  // 3 + 3 * 5
}

TEST(BackPropagate, CallsTheHooksOfATensorWithin) {
  Calls calls;
  at::Tensor kept;
  const auto within = times(first_of_chain(kept), 3, calls);
  within.register_hook([](const at::Tensor& gradient) { return gradient.mul(10); });
  back_propagate(times(within, 5, calls), at::tensor({1.0F, 2.0F}));
  EXPECT_TRUE(kept.equal(at::tensor({150.0F, 300.0F})));
}

}  // namespace
}  // namespace ddptrain
