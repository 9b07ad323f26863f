// Layers with kernels of their own: batch norm, synchronized too and with what follows it; the bits
// of dropout and of add_relu.
#include <ATen/autocast_mode.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn_like.h>
#include <gtest/gtest.h>

#include "gpu/device.h"
#include "models/layers/dropout.h"
#include "models/layers/norm.h"
#include "models/nets.h"
#include "models/operators/add_relu.h"
#include "models/operators/biased_product.h"
#include "models/operators/max_pool.h"
#include "models/operators/residual_norm.h"

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
  EXPECT_LE(relative_distance(far.output, near.output), tolerance.distance);
  EXPECT_LE(relative_distance(far.input_gradient, near.input_gradient), tolerance.distance);
  EXPECT_LE(relative_distance(far.weight_gradient, near.weight_gradient), tolerance.distance);
  EXPECT_LE(relative_distance(far.mean, near.mean), tolerance.distance);
  EXPECT_LE(relative_distance(far.variance, near.variance), tolerance.distance);
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

struct NormedBlock {
  at::MemoryFormat format;
  std::int64_t channels;
  bool has_residual, training;
};

/// Output, gradients of input, residual, weight and bias, running statistics.
std::vector<at::Tensor> norm_relu_on(c10::Device where, at::ScalarType type,
                                     const NormedBlock& block, Statistics* members) {
  const auto random = test::seeded(23);
  const auto draw = [&](double scale) {
    return at::randn({7, block.channels, 5, 5}, random, at::kDouble)
        .mul_(scale)
        .to(where, type)
        .contiguous(block.format);
  };
  BatchNorm norm(block.channels);
  norm.to(where, type == at::kDouble ? at::kDouble : at::kFloat);
  const auto input = draw(3).set_requires_grad(true), residual = draw(1).set_requires_grad(true);
  const auto output = norm.forward_relu(input, block.has_residual ? residual : at::Tensor(),
                                        {.training = block.training, .statistics = members});
  output.backward(draw(1));
  std::vector<at::Tensor> all{output.detach(), input.grad(), norm.weight().grad(),
                              norm.bias().grad()};
  if (block.has_residual) all.push_back(residual.grad());
  for (const auto& [name, buffer] : norm.named_buffers()) all.push_back(buffer);
  return all;
}

std::vector<NormedBlock> normed_blocks() {
  std::vector<NormedBlock> all;
  for (const auto format : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast})
    for (const std::int64_t channels : {3, 8})
      for (const bool has_residual : {false, true})
        for (const bool training : {false, true})
          all.push_back({format, channels, has_residual, training});
  return all;
}

// The CPU rounds a sum in half precision three times, a device once: a few sums near zero are on
// the other side of it, and so are their gradients, one of 525 of which is 6 % of all.
TEST(BatchNormReluOfADevice, IsThatOfTheCpu) {
  for (const Tolerance& tolerance : {Tolerance{at::kDouble, 1e-11}, Tolerance{at::kFloat, 1e-4},
                                     Tolerance{at::kBFloat16, 1e-2}, Tolerance{at::kHalf, 2e-3}})
    for (const auto& block : normed_blocks()) {
      const auto near = norm_relu_on(at::kCPU, tolerance.type, block, nullptr);
      const auto far = norm_relu_on(device(), tolerance.type, block, nullptr);
      ASSERT_EQ(far.size(), near.size());
      for (std::size_t i = 0; i < near.size(); ++i) {
        const bool half = tolerance.type == at::kBFloat16 || tolerance.type == at::kHalf;
        const bool is_gradient = i > 0 && i + 3 < near.size();
        EXPECT_LE(relative_distance(far[i], near[i]),
                  half && is_gradient ? 0.2 : tolerance.distance)
            << "tensor " << i << " of " << tolerance.type << " x " << block.channels;
      }
    }
}

// As many rows as fill a device, more channels than a block takes. A few of a million sums are near
// enough to zero to be on the other side of it in single precision, and so are their gradients.
TEST(BatchNormOfADevice, OfManyRowsIsThatOfTheCpu) {
  for (const std::int64_t channels : {64, 520})
    for (const bool relu : {false, true})
      for (const bool adds : {false, true}) {
        if (adds && !relu) continue;
        const auto ran = [&](c10::Device where, at::ScalarType type) {
          const auto random = test::seeded(5);
          const auto draw = [&](double place) {
            return at::randn({16, channels, 28, 28}, random, at::kDouble)
                .add_(place)
                .to(where, type)
                .contiguous(at::MemoryFormat::ChannelsLast);
          };
          BatchNorm norm(channels);
          norm.to(where, type);
          const auto x = draw(3).set_requires_grad(true), added = draw(0).set_requires_grad(true);
          const Pass pass{.training = true};
          const auto y = relu ? norm.forward_relu(x, adds ? added : at::Tensor(), pass)
                              : norm.forward(x, pass);
          y.backward(draw(0));
          std::vector<at::Tensor> all{y.detach(),           x.grad(),
                                      norm.weight().grad(), norm.bias().grad(),
                                      norm.running_mean(),  norm.running_var()};
          if (adds) all.push_back(added.grad());
          return all;
        };
        const auto near = ran(at::kCPU, at::kDouble), far = ran(device(), at::kFloat);
        for (std::size_t i = 0; i < near.size(); ++i) {
          const bool is_gradient = i != 0 && i != 4 && i != 5;
          EXPECT_LE(relative_distance(far[i], near[i]), relu && is_gradient ? 5e-3 : 1e-4)
              << "tensor " << i << ", channels " << channels << relu << adds;
        }
      }
}

TEST(SyncBatchNormReluOfADevice, OfOneMemberIsThatOfTheCpu) {
  OneMember member;
  for (auto block : normed_blocks()) {
    if (!block.training) continue;
    const auto near = norm_relu_on(at::kCPU, at::kDouble, block, nullptr);
    const auto far = norm_relu_on(device(), at::kDouble, block, &member);
    for (std::size_t i = 0; i < near.size(); ++i)
      EXPECT_LE(relative_distance(far[i], near[i]), 1e-11) << "tensor " << i;
  }
}

/// The sum, what is normalized, and the gradients of all inputs, of which `branch` may be left out.
std::vector<at::Tensor> residual_norm_on(c10::Device where, at::ScalarType type,
                                         std::int64_t features, bool adds) {
  const auto random = test::seeded(23);
  const auto draw = [&](at::IntArrayRef sizes) {
    return at::randn(sizes, random, at::kDouble).to(where, type).set_requires_grad(true);
  };
  const std::int64_t rows = 300;
  const auto input = draw({3, rows, features}), weight = draw({features}), bias = draw({features});
  const auto branch = draw({3, rows, features});
  const auto [sum, normalized] =
      residual_norm(input, adds ? branch : at::Tensor(), {weight, bias, 1e-5});
  const auto value = sum.mul(draw({3, rows, features}).detach()).sum();
  value.add(normalized.mul(draw({3, rows, features}).detach()).sum()).backward();
  std::vector<at::Tensor> all{sum.detach(), normalized.detach(), input.grad(), weight.grad(),
                              bias.grad()};
  if (adds) all.push_back(branch.grad());
  return all;
}

TEST(ResidualNormOfADevice, IsThatOfTheCpu) {
  for (const std::int64_t features : {48, 768, 1600, 5000, 770})
    for (const bool adds : {false, true})
      for (const auto& [type, distance] : {Tolerance{at::kDouble, 1e-12}, {at::kFloat, 1e-5}}) {
        const auto near = residual_norm_on(at::kCPU, at::kDouble, features, adds);
        const auto far = residual_norm_on(device(), type, features, adds);
        for (std::size_t i = 0; i < near.size(); ++i)
          EXPECT_LE(relative_distance(far[i], near[i]), distance)
              << "tensor " << i << " of " << type << " x " << features << adds;
      }
}

// Half a unit in the last place of bf16 is 2^-9 of a number.
TEST(ResidualNormOfADevice, UnderAutocastIsTheCpusRoundedOnce) {
  const auto random = test::seeded(29);
  const auto draw = [&](at::IntArrayRef sizes) { return at::randn(sizes, random, at::kFloat); };
  const auto input = draw({900, 768}), branch = draw({900, 768}).to(at::kBFloat16),
             weight = draw({768}), bias = draw({768});
  const auto expected = at::layer_norm(input.add(branch).to(at::kDouble), {768},
                                       weight.to(at::kDouble), bias.to(at::kDouble), 1e-5);
  const auto far = [](const at::Tensor& tensor) { return tensor.to(device()); };
  const auto kind = device().type();
  at::autocast::set_autocast_enabled(kind, true);
  const auto [sum, normalized] =
      residual_norm(far(input), far(branch), {far(weight), far(bias), 1e-5});
  const auto type = at::autocast::get_autocast_dtype(kind);
  at::autocast::set_autocast_enabled(kind, false);
  EXPECT_EQ(sum.scalar_type(), at::kFloat);
  EXPECT_EQ(normalized.scalar_type(), type);
  const auto apart = normalized.cpu().to(at::kDouble).sub(expected).abs();
  const double share = type == at::kBFloat16 ? 0x1p-8 : 0x1p-11;
  EXPECT_TRUE(apart.le(expected.abs().mul(share).add(1e-5)).all().item<bool>());
}

TEST(BiasedProductOfADevice, IsThatOfTheCpu) {
  for (const std::int64_t outputs : {64, 200, 30})
    for (const auto& [type, distance] : {Tolerance{at::kDouble, 1e-12}, {at::kFloat, 1e-5}}) {
      const auto ran = [&](c10::Device where, at::ScalarType as) {
        const auto random = test::seeded(37);
        const auto draw = [&](at::IntArrayRef sizes) {
          return at::randn(sizes, random, at::kDouble).to(where, as).set_requires_grad(true);
        };
        const auto input = draw({3000, 48}), weight = draw({48, outputs}), bias = draw({outputs});
        const auto output = biased_product(input, weight, bias);
        output.backward(draw({3000, outputs}).detach());
        return std::vector{output.detach(), input.grad(), weight.grad(), bias.grad()};
      };
      const auto near = ran(at::kCPU, at::kDouble), far = ran(device(), type);
      for (std::size_t i = 0; i < near.size(); ++i)
        EXPECT_LE(relative_distance(far[i], near[i]), distance) << "tensor " << i << " of " << type;
    }
}

// Whole numbers: sums have no rounding, and windows have several largest numbers.
TEST(MaxPoolOfADevice, HasTheBitsOfTheCpu) {
  for (const auto type : {at::kDouble, at::kFloat, at::kBFloat16, at::kHalf})
    for (const std::int64_t channels : {64, 6})
      for (const auto& window : {PoolWindow{3, 2, 1}, {2, 2, 0}, {2, 1, 0}, {3, 2, 0, true}}) {
        const auto pooled = [&](c10::Device where) {
          const auto random = test::seeded(31);
          const auto draw = [&](at::IntArrayRef sizes) {
            return at::randint(-4, 4, sizes, random, at::kFloat)
                .to(where, type)
                .contiguous(at::MemoryFormat::ChannelsLast);
          };
          const auto input = draw({5, channels, 17, 22}).set_requires_grad(true);
          const auto output = max_pool(input, window);
          output.backward(draw(output.sizes()));
          return std::vector{output.detach().cpu(), input.grad().cpu()};
        };
        const auto near = pooled(at::kCPU), far = pooled(device());
        for (std::size_t i = 0; i < near.size(); ++i)
          EXPECT_TRUE(far[i].equal(near[i])) << "tensor " << i << " of " << type << channels;
      }
}

}  // namespace
}  // namespace ddptrain::gpu
