#include "models/operators/pointwise_convolution.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <vector>

namespace ddptrain {
namespace {

TEST(PointwiseConvolution, IsThatOfLibTorchInEachLayout) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(4);
  for (const auto layout : {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast})
    for (const bool has_bias : {false, true}) {
      const auto made = [&](at::IntArrayRef sizes) {
        return at::randn(sizes, generator, at::kDouble).requires_grad_();
      };
      const auto input = made({3, 4, 2, 5}), weight = made({6, 4, 1, 1});
      const auto bias = has_bias ? made({6}) : at::Tensor();
      std::vector<at::Tensor> inputs{input, weight};
      if (has_bias) inputs.push_back(bias);
      const auto maps = input.to(layout);
      const auto expected = at::conv2d(maps, weight, bias);
      const auto gradient = at::randn(expected.sizes(), generator, at::kDouble).to(layout);
      expected.backward(gradient);
      std::vector<at::Tensor> gradients;
      for (const auto& each : inputs) {
        gradients.push_back(each.grad());
        each.mutable_grad().reset();
      }
      const auto found = pointwise_convolution(input.to(layout), weight, bias);
      EXPECT_TRUE(found.equal(expected));
      found.backward(gradient);
      for (std::size_t i = 0; i < inputs.size(); ++i)
        EXPECT_TRUE(at::allclose(inputs[i].grad(), gradients[i], 1e-12, 1e-12)) << i;
    }
}

}  // namespace
}  // namespace ddptrain
