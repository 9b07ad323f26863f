#include "models/operators/small_convolution.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

namespace ddptrain {
namespace {

// Counted by hand: of 2 x 2 pixels, each of the four is in four of nine taps.
TEST(ShareOfPadding, IsThatOfTheProducts) {
  EXPECT_DOUBLE_EQ(share_of_padding(1, 1, 3), 8.0 / 9);
  EXPECT_DOUBLE_EQ(share_of_padding(2, 2, 3), 5.0 / 9);
  EXPECT_DOUBLE_EQ(share_of_padding(4, 4, 3), 1 - 100.0 / 144);
  EXPECT_DOUBLE_EQ(share_of_padding(1, 4, 3), 1 - 10.0 / 36);
  EXPECT_DOUBLE_EQ(share_of_padding(2, 3, 7), 1 - 4.0 / 14 * 9 / 21);
  EXPECT_DOUBLE_EQ(share_of_padding(5, 5, 1), 0);
}

struct SmallMaps {
  std::int64_t height, width, kernel;
  bool bias;
  at::MemoryFormat layout;
};

class SmallConvolution : public testing::TestWithParam<SmallMaps> {
 protected:
  using Result = std::vector<at::Tensor>;  // output, gradients

  at::Tensor tensor(at::IntArrayRef sizes) {
    return at::randn(sizes, generator_, at::kDouble).to(GetParam().layout).requires_grad_();
  }
  static Result pass(const std::vector<at::Tensor>& inputs, const at::Tensor& output,
                     const at::Tensor& gradient) {
    Result all{output.detach()};
    output.backward(gradient);
    for (const auto& input : inputs) {
      all.push_back(input.grad());
      input.mutable_grad().reset();
    }
    return all;
  }

  at::Generator generator_ = at::make_generator<at::CPUGeneratorImpl>(3);
};

TEST_P(SmallConvolution, IsThatOfLibTorch) {
  const auto& maps = GetParam();
  std::vector<at::Tensor> inputs{tensor({3, 4, maps.height, maps.width}),
                                 tensor({5, 4, maps.kernel, maps.kernel})};
  const auto bias =
      maps.bias ? at::randn({5}, generator_, at::kDouble).requires_grad_() : at::Tensor();
  if (maps.bias) inputs.push_back(bias);
  const auto expected_output =
      at::conv2d(inputs[0], inputs[1], bias, 1, at::IntArrayRef{maps.kernel / 2});
  const auto gradient = at::randn(expected_output.sizes(), generator_, at::kDouble);
  const auto expected = pass(inputs, expected_output, gradient);
  const auto output = small_convolution(inputs[0], inputs[1], bias);
  EXPECT_TRUE(output.is_contiguous(maps.layout));
  const auto found = pass(inputs, output, gradient);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(found[i].sizes(), expected[i].sizes()) << i;
    EXPECT_TRUE(at::allclose(found[i], expected[i], 1e-12, 1e-12)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SmallConvolution,
                         testing::Values(SmallMaps{4, 4, 3, false, at::MemoryFormat::ChannelsLast},
                                         SmallMaps{4, 4, 3, true, at::MemoryFormat::Contiguous},
                                         SmallMaps{1, 1, 3, true, at::MemoryFormat::ChannelsLast},
                                         SmallMaps{1, 5, 3, false, at::MemoryFormat::Contiguous},
                                         SmallMaps{3, 2, 5, true, at::MemoryFormat::ChannelsLast},
                                         SmallMaps{2, 2, 7, false, at::MemoryFormat::Contiguous},
                                         SmallMaps{2, 3, 1, true, at::MemoryFormat::Contiguous}),
                         [](const auto& test) {
                           return fmt::format("{}x{}_kernel_{}{}", test.param.height,
                                              test.param.width, test.param.kernel,
                                              test.param.bias ? "_bias" : "");
                         });

// As an activation does.
TEST(SmallConvolutionOfOnePixel, MayBeOverwritten) {
  const auto input = at::ones({1, 2, 1, 1}).requires_grad_(), weight = at::ones({2, 2, 3, 3});
  small_convolution(input, weight, {}).mul_(3).sum().backward();
  EXPECT_TRUE(input.grad().equal(at::full({1, 2, 1, 1}, 6.0)));
}

// A frozen layer, and the first one of a network.
TEST(SmallConvolutionOfConstants, HasNoGradientForThem) {
  const auto input = at::randn({2, 3, 2, 2}), weight = at::randn({3, 3, 3, 3});
  input.requires_grad_();
  small_convolution(input, weight, {}).sum().backward();
  EXPECT_TRUE(input.grad().defined());
  EXPECT_FALSE(weight.grad().defined());
  EXPECT_FALSE(small_convolution(input.detach(), weight, {}).requires_grad());
}

}  // namespace
}  // namespace ddptrain
