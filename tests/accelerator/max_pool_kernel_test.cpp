// The text of the kernels of max pooling, compiled here as C++ of the host, against LibTorch's on
// the CPU.
#include <ATen/ops/empty_like.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn_like.h>
#include <gtest/gtest.h>

#include <limits>

#include "accelerator/cuda/kernels/arguments.h"
#include "accelerator/kernel_types.h"

namespace ddptrain::kernels {
#include "accelerator/cuda/kernels/max_pool.cu"
}  // namespace ddptrain::kernels

namespace ddptrain {
namespace {

struct PoolCase {
  at::Tensor input;
  std::int64_t kernel, stride, padding;
  bool ceil = false;
};

struct PoolResults {
  at::Tensor output, gradient;
};

template <class T>
PoolResults emulated_pool(const PoolCase& c, const at::Tensor& output, const at::Tensor& given,
                          void (*forward)(const T*, T*, unsigned char*, MaxPoolArguments),
                          void (*backward)(const T*, const unsigned char*, T*, MaxPoolArguments)) {
  PoolResults r{at::empty_like(output), at::empty_like(c.input)};
  const auto places = at::empty_like(output, output.options().dtype(at::kByte));
  const auto a = max_pool_arguments(c.input, output, c.kernel, c.stride, c.padding);
  auto* at = places.mutable_data_ptr<std::uint8_t>();
  emulated::launch(forward, 2, 64, static_cast<const T*>(c.input.const_data_ptr()),
                   static_cast<T*>(r.output.mutable_data_ptr()), at, a);
  emulated::launch(backward, 2, 64, static_cast<const T*>(given.const_data_ptr()), at,
                   static_cast<T*>(r.gradient.mutable_data_ptr()), a);
  return r;
}

// Whole numbers: sums of gradients have no rounding, and windows have several largest numbers.
void expect_libtorchs(const PoolCase& c) {
  ASSERT_TRUE(max_pool_takes(c.input, c.kernel));
  const auto leaf = c.input.detach().clone().set_requires_grad(true);
  const auto output = at::max_pool2d(leaf, c.kernel, c.stride, c.padding, 1, c.ceil);
  const auto given = at::randint(-8, 8, output.sizes(), at::kFloat)
                         .to(output.scalar_type())
                         .contiguous(at::MemoryFormat::ChannelsLast);
  output.backward(given);
  const auto shaped = output.detach().contiguous(at::MemoryFormat::ChannelsLast);
  PoolResults found;
  using namespace kernels;
  switch (c.input.scalar_type()) {
    case at::kFloat:
      found = emulated_pool(c, shaped, given, &max_pool_forward_float, &max_pool_backward_float);
      break;
    case at::kDouble:
      found = emulated_pool(c, shaped, given, &max_pool_forward_double, &max_pool_backward_double);
      break;
    case at::kBFloat16:
      found =
          emulated_pool(c, shaped, given, &max_pool_forward_bfloat16, &max_pool_backward_bfloat16);
      break;
    default:
      found = emulated_pool(c, shaped, given, &max_pool_forward_half, &max_pool_backward_half);
  }
  const auto label = testing::Message() << c.input.sizes() << c.input.scalar_type() << c.kernel;
  EXPECT_TRUE(found.output.to(at::kDouble).equal(output.to(at::kDouble))) << label;
  EXPECT_TRUE(found.gradient.to(at::kDouble).equal(leaf.grad().to(at::kDouble))) << label;
}

at::Tensor drawn_images(at::IntArrayRef sizes, at::ScalarType type) {
  return at::randint(-4, 4, sizes, at::kFloat).to(type).contiguous(at::MemoryFormat::ChannelsLast);
}

TEST(MaxPoolKernels, GiveLibTorchsNumbersInEveryTypeAndWindow) {
  for (const auto type : test::kTypes) {
    expect_libtorchs({drawn_images({2, 8, 9, 7}, type), 3, 2, 1});
    expect_libtorchs({drawn_images({1, 4, 6, 6}, type), 2, 2, 0});
    expect_libtorchs({drawn_images({2, 4, 7, 10}, type), 3, 2, 0, true});
    expect_libtorchs({drawn_images({3, 4, 5, 5}, type), 2, 1, 0});
  }
}

TEST(MaxPoolKernels, TakeWhatIsNoNumberForTheLargest) {
  const auto images = drawn_images({1, 4, 6, 6}, at::kFloat);
  images[0][1][2][2] = std::numeric_limits<float>::quiet_NaN();
  images[0][2].fill_(-std::numeric_limits<float>::infinity());
  const auto output = at::max_pool2d(images, 3, 2, 1);
  const auto found =
      emulated_pool<float>({images, 3, 2, 1}, output.contiguous(at::MemoryFormat::ChannelsLast),
                           at::randn_like(output, output.options(), at::MemoryFormat::ChannelsLast),
                           &kernels::max_pool_forward_float, &kernels::max_pool_backward_float);
  EXPECT_TRUE(found.output.isnan().equal(output.isnan()));
  EXPECT_TRUE(found.output.nan_to_num(7).equal(output.nan_to_num(7)));
}

TEST(MaxPoolKernels, LeaveOtherImagesToOthers) {
  EXPECT_TRUE(max_pool_takes(drawn_images({1, 4, 6, 6}, at::kFloat), 3));
  EXPECT_FALSE(max_pool_takes(drawn_images({1, 6, 6, 6}, at::kFloat), 3));
  EXPECT_FALSE(max_pool_takes(at::randint(4, {2, 4, 6, 6}, at::kFloat), 3));
  EXPECT_FALSE(max_pool_takes(drawn_images({1, 4, 40, 40}, at::kFloat), 16));
}

}  // namespace
}  // namespace ddptrain
