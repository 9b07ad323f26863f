// Layers with kernels of their own: synchronised batch norm; the bits of dropout and of add_relu.
#include <ATen/ops/ones.h>
#include <ATen/ops/randn_like.h>
#include <gtest/gtest.h>

#include "gpu/device.h"
#include "models/layers/add_relu.h"
#include "models/layers/dropout.h"
#include "models/layers/norm.h"
#include "models/nets.h"

namespace ddptrain::gpu {
namespace {

/// The only member.
class OneMember final : public Statistics {
 public:
  std::vector<at::Tensor> all_gather(const at::Tensor& tensor) override { return {tensor}; }
  void all_reduce(at::Tensor&) override {}
};

struct Normed {
  at::Tensor output, input_gradient, weight_gradient, mean, variance;
};

Normed normed_on(c10::Device where, at::ScalarType type, Statistics* members) {
  const auto random = test::seeded(17);
  const auto draw = [&] { return at::randn({7, 3, 4, 4}, random, at::kDouble).to(where, type); };
  BatchNorm norm(3);
  norm.to(where, type);
  const auto input = draw().set_requires_grad(true);
  const auto output = norm.forward(input, {.training = true, .statistics = members});
  output.backward(draw());
  return {output.detach(), input.grad(), norm.weight().grad(),
          test::find(norm.named_buffers(), "running_mean"),
          test::find(norm.named_buffers(), "running_var")};
}

void expect_the_norm_of_the_cpu(const Tolerance& tolerance, Statistics* members) {
  const auto near = normed_on(at::kCPU, tolerance.type, nullptr);
  const auto far = normed_on(device(), tolerance.type, members);
  EXPECT_LE(relative_distance(far.output, near.output), tolerance.apart);
  EXPECT_LE(relative_distance(far.input_gradient, near.input_gradient), tolerance.apart);
  EXPECT_LE(relative_distance(far.weight_gradient, near.weight_gradient), tolerance.apart);
  EXPECT_LE(relative_distance(far.mean, near.mean), tolerance.apart);
  EXPECT_LE(relative_distance(far.variance, near.variance), tolerance.apart);
}

TEST(BatchNormOfADevice, IsThatOfTheCpu) {
  expect_the_norm_of_the_cpu({at::kDouble, 1e-11}, nullptr);
  expect_the_norm_of_the_cpu({at::kFloat, 1e-4}, nullptr);
}

TEST(SyncBatchNormOfADevice, OfOneMemberIsBatchNorm) {
  OneMember member;
  expect_the_norm_of_the_cpu({at::kDouble, 1e-11}, &member);
  expect_the_norm_of_the_cpu({at::kFloat, 1e-4}, &member);
}

TEST(DropoutOfADevice, HasTheBitsOfTheCpu) {
  for (const auto type : {at::kFloat, at::kDouble})
    for (const double p : {0.1, 0.5}) {
      const auto x = at::ones({5, 3, 5, 7}, type);
      const auto pass = test::training(9, 1000);
      EXPECT_TRUE(
          Dropout(p).forward(x.to(device()), pass).cpu().equal(Dropout(p).forward(x, pass)));
      EXPECT_TRUE(StochasticDepth(p)
                      .forward(x.to(device()), pass)
                      .cpu()
                      .equal(StochasticDepth(p).forward(x, pass)));
    }
}

// In every type, where the memory has one order, and where it has two.
TEST(AddReluOfADevice, HasTheBitsOfTheCpu) {
  const auto last = at::MemoryFormat::ChannelsLast;
  for (const auto type : {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf})
    for (const std::int64_t channels : {3, 8}) {
      const auto random = test::seeded(3);
      const auto a = at::randn({5, channels, 7, 9}, random, at::kDouble).to(type).contiguous(last);
      for (const auto& b : {at::randn_like(a), at::randn_like(a).contiguous()}) {
        const auto expected = add_relu(a.clone(), b);
        EXPECT_TRUE(add_relu(a.to(device()), b.to(device())).cpu().equal(expected)) << type;
      }
    }
}
}  // namespace
}  // namespace ddptrain::gpu
