#include "models/layers/convolution.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/randn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

namespace ddptrain {
namespace {

/// What the process allocates next is full of NaN, in any floating-point type. The memory is free
/// as long as the result lives: a block after it, without which it would go to the system.
std::unique_ptr<char[]> fill_free_memory_with_nan() {
  constexpr std::size_t largest = 100'000, of_each_size = 100;  // above, the system gives zeros
  std::vector<std::unique_ptr<char[]>> freed;
  for (std::size_t bytes = 16; bytes < largest; bytes += bytes / 2)
    for (std::size_t i = 0; i < of_each_size; ++i) {
      freed.push_back(std::make_unique<char[]>(bytes));
      std::memset(freed.back().get(), 0xff, bytes);
    }
  return std::make_unique<char[]>(16);
}

struct NarrowImages {
  std::int64_t width, kernel, stride, padding;
};

class ConvolutionOfNarrowImages : public testing::TestWithParam<NarrowImages> {};

// In bf16 its weight had NaN for a gradient now and then: oneDNN multiplies zeros by memory that it
// has not written.
TEST_P(ConvolutionOfNarrowImages, HasTheGradientOfDoublePrecision) {
  const auto& images = GetParam();
  auto generator = at::make_generator<at::CPUGeneratorImpl>(5);
  Convolution layer({.in = 16,
                     .out = 16,
                     .kernel = images.kernel,
                     .stride = images.stride,
                     .padding = images.padding},
                    generator);
  const auto weight = layer.weight();
  weight.set_data(weight.detach().to(at::kBFloat16));
  const auto input = at::randn({2, 16, 2, images.width}, generator).to(at::kBFloat16);
  const auto output = layer.forward(input, {.training = true});
  const auto gradient = at::randn(output.sizes(), generator).to(at::kBFloat16);
  const auto after = fill_free_memory_with_nan();
  output.backward(gradient);
  const auto found = weight.grad().to(at::kDouble);

  weight.mutable_grad().reset();
  weight.set_data(weight.detach().to(at::kDouble));
  const auto exact = layer.forward(input.to(at::kDouble), {.training = true});
  exact.backward(gradient.to(at::kDouble));
  EXPECT_TRUE(at::allclose(output.to(at::kDouble), exact, 0.01, 0.01));
  EXPECT_TRUE(at::allclose(found, weight.grad(), 0.01, 0.01));  // a bf16 has 8 bits
}

INSTANTIATE_TEST_SUITE_P(All, ConvolutionOfNarrowImages,
                         testing::Values(NarrowImages{1, 3, 2, 1}, NarrowImages{1, 7, 2, 3},
                                         NarrowImages{2, 3, 3, 1}, NarrowImages{3, 7, 4, 3}),
                         [](const auto& test) {
                           return fmt::format("width_{}_kernel_{}_stride_{}", test.param.width,
                                              test.param.kernel, test.param.stride);
                         });

}  // namespace
}  // namespace ddptrain
