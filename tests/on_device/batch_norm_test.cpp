// Batch norm with what follows it, on a device one operator: the CPU's numbers, no more memory.
#include <gtest/gtest.h>

#include "accelerator/graph.h"
#include "models/layers/activation.h"
#include "models/layers/chain.h"
#include "models/layers/norm.h"
#include "models/nets.h"
#include "models/vision/resnet_block.h"
#include "simulated/use.h"

namespace ddptrain {
namespace {

using test::largest_difference;
using test::noise;

/// The only member.
class Lone final : public Statistics {
 public:
  std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override { return {tensor}; }
  void all_reduce(at::Tensor&) override {}
};

/// Output, gradients of input, residual and parameters, and buffers, on the host.
struct Ran {
  std::vector<at::Tensor> tensors;
};

Ran ran(BatchNorm& norm, at::Device device, const at::Tensor& rows, const at::Tensor& added,
        const Pass& pass) {
  const auto leaf = [&](const at::Tensor& values) {
    return values.to(device, values.scalar_type(), false, true).set_requires_grad(true);
  };
  const auto x = leaf(rows), residual = added.defined() ? leaf(added) : at::Tensor();
  norm.to(device, rows.scalar_type() == at::kDouble ? at::kDouble : at::kFloat);
  const auto y = norm.forward_relu(x, residual, pass);
  y.square().sum().backward();
  Ran r{{y.detach(), x.grad(), norm.weight().grad(), norm.bias().grad()}};
  if (residual.defined()) r.tensors.push_back(residual.grad());
  for (const auto& [name, buffer] : norm.named_buffers()) r.tensors.push_back(buffer);
  for (auto& tensor : r.tensors) tensor = tensor.cpu();
  return r;
}

class NormReluOnADevice : public testing::Test {
 protected:
  static void expect_the_bits_of_the_cpu(const BatchNormOptions& options, const at::Tensor& rows,
                                         const at::Tensor& residual, const Pass& pass) {
    BatchNorm near(rows.size(1), options), far(rows.size(1), options);
    const auto expected = ran(near, at::kCPU, rows, residual, pass),
               found = ran(far, test::simulated_device(), rows, residual, pass);
    ASSERT_EQ(found.tensors.size(), expected.tensors.size());
    for (std::size_t i = 0; i < expected.tensors.size(); ++i)
      EXPECT_TRUE(found.tensors[i].equal(expected.tensors[i])) << i << rows.sizes();
  }
};

// With its running statistics and the number of batches.
TEST_F(NormReluOnADevice, HasTheBitsOfTheCpu) {
  const auto last = at::MemoryFormat::ChannelsLast;
  for (const auto type : {at::kDouble, at::kFloat, at::kBFloat16})
    for (const bool training : {true, false}) {
      const auto x = noise({6, 3, 4, 5}).to(type), residual = noise({6, 3, 4, 5}).to(type);
      const Pass pass{.training = training};
      expect_the_bits_of_the_cpu({}, x, residual, pass);
      expect_the_bits_of_the_cpu({}, x.contiguous(last), residual.contiguous(last), pass);
      expect_the_bits_of_the_cpu({}, x, {}, pass);
      expect_the_bits_of_the_cpu({.momentum = 0.01}, noise({9, 3}).to(type), {}, pass);
    }
}

TEST_F(NormReluOnADevice, AveragesAllBatchesAsTheCpu) {
  const auto x = noise({6, 3, 4, 5}).to(at::kDouble);
  BatchNormOptions all;
  all.momentum = std::nullopt;
  BatchNorm near(3, all), far(3, all);
  for (int i = 0; i < 3; ++i) {
    const auto rows = x.mul(i + 1);
    const auto expected = ran(near, at::kCPU, rows, x, {.training = true}),
               found = ran(far, test::simulated_device(), rows, x, {.training = true});
    for (std::size_t k = 0; k < expected.tensors.size(); ++k)
      EXPECT_LT(largest_difference(found.tensors[k], expected.tensors[k]), 1e-12) << k;
  }
}

TEST_F(NormReluOnADevice, OfAllMembersIsThatOfOneBatch) {
  const auto x = noise({6, 3, 4, 5}).to(at::kDouble),
             residual = noise({6, 3, 4, 5}).to(at::kDouble);
  Lone member;
  for (const auto& added : {residual, at::Tensor()}) {
    BatchNorm near(3), far(3);
    const auto expected = ran(near, at::kCPU, x, added, {.training = true});
    const auto found =
        ran(far, test::simulated_device(), x, added, {.training = true, .statistics = &member});
    for (std::size_t k = 0; k < expected.tensors.size(); ++k)
      EXPECT_LT(largest_difference(found.tensors[k], expected.tensors[k]), 1e-12) << k;
  }
}

TEST_F(NormReluOnADevice, TakesAMemberWithoutRows) {
  Lone member;
  BatchNorm norm(3);
  norm.to(test::simulated_device(), at::kFloat);
  const auto none = noise({0, 3, 4, 5}).to(test::simulated_device()).set_requires_grad(true);
  const auto y = norm.forward_relu(none, none.mul(2), {.training = true, .statistics = &member});
  y.sum().backward();
  EXPECT_EQ(y.sizes(), none.sizes());
  EXPECT_EQ(norm.named_buffers().back().tensor.item<std::int64_t>(), 0);
}

TEST_F(NormReluOnADevice, IsOneOperatorForwardAndOneBackward) {
  const auto device = test::simulated_device();
  BatchNorm norm(4);
  norm.to(device, at::kFloat);
  const auto x = noise({3, 4, 5, 5}).to(device).set_requires_grad(true);
  const auto residual = noise({3, 4, 5, 5}).to(device), gradient = noise({3, 4, 5, 5}).to(device);
  simulated::reset();
  const auto y = norm.forward_relu(x, residual, {.training = true});
  EXPECT_EQ(simulated::counts().operators, 2) << "and the number of batches";
  y.backward(gradient);
  EXPECT_EQ(simulated::counts().operators, 3);
  EXPECT_EQ(simulated::counts().waited(), 0);
}

/// Bytes that a forward pass leaves for the backward pass, its output included.
std::int64_t kept_by(const std::function<at::Tensor()>& forward) {
  const auto& accelerator = test::simulated_accelerator();
  accelerator.empty_cache();
  const auto before = accelerator.memory(0).reserved;
  const auto output = forward();
  accelerator.empty_cache();
  return accelerator.memory(0).reserved - before;
}

TEST_F(NormReluOnADevice, KeepsNoMoreThanItsParts) {
  const auto device = test::simulated_device();
  BatchNorm norm(4);
  norm.to(device, at::kFloat);
  const auto x = noise({3, 4, 32, 32}).to(device).set_requires_grad(true);
  const auto residual = noise({3, 4, 32, 32}).to(device);
  const auto parts =
      kept_by([&] { return norm.forward(x.mul(2), {.training = true}).add_(residual).relu_(); });
  const auto one =
      kept_by([&] { return norm.forward_relu(x.mul(2), residual, {.training = true}); });
  EXPECT_GT(one, 2 * x.nbytes()) << "the product and the output";
  EXPECT_LE(one, parts);
}

// A chain, and the two blocks, whose shortcut has a norm of its own.
TEST_F(NormReluOnADevice, IsFoundInChainsAndBlocks) {
  const auto device = test::simulated_device();
  Sequence chain;
  chain.add<BatchNorm>(3);
  chain.add<Activate>(Activation::relu);
  chain.add<BatchNorm>(3);
  chain.add<Activate>(Activation::mish);
  chain.to(device, at::kFloat);
  const auto x = noise({2, 3, 4, 4}).to(device);
  simulated::reset();
  chain.forward(x, {});
  EXPECT_EQ(simulated::counts().operators, 3);
  BasicBlock block({.in = 3, .planes = 4, .stride = 2}, test::seeded(1));
  block.to(device, at::kFloat);
  simulated::reset();
  block.forward(x, {});
  EXPECT_EQ(simulated::counts().operators, 6) << "three convolutions, three norms";
}

TEST_F(NormReluOnADevice, MovesStatisticsAtTheReplaysOfAGraph) {
  const auto device = test::simulated_device();
  BatchNorm norm(3), expected(3);
  norm.to(device, at::kDouble);
  expected.to(at::kCPU, at::kDouble);
  const auto rows = noise({5, 3, 2, 2}).to(at::kDouble);
  const auto x = rows.to(device);
  at::Tensor y;
  const auto graph = test::simulated_accelerator().capture(
      device.index(), [&] { y = norm.forward_relu(x, x, {.training = true}); });
  for (int i = 0; i < 2; ++i) {
    graph->replay();
    const auto near = expected.forward_relu(rows, rows, {.training = true});
    EXPECT_TRUE(y.detach().cpu().equal(near.detach()));
    EXPECT_TRUE(norm.running_var().cpu().equal(expected.running_var()));
  }
}

}  // namespace
}  // namespace ddptrain
