// The text of the kernel of batch norm and ReLU, compiled here as C++ of the host, against the
// formula in double precision and against the CPU's operators.
#include <ATen/ops/empty_like.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <gtest/gtest.h>

#include <limits>

#include "accelerator/cuda/kernels/arguments.h"
#include "accelerator/kernel_types.h"

namespace ddptrain::kernels {
#include "accelerator/cuda/kernels/batch_norm_relu.cu"
}  // namespace ddptrain::kernels

namespace ddptrain {
namespace {

using test::by_type;
using test::kTypes;

struct NormCase {
  at::Tensor input, residual, mean, variance, weight, bias;  // a residual may be undefined
};

/// What the norms of a device may see: far from zero, of small and large deviations.
NormCase drawn_norm(std::vector<std::int64_t> shape, at::ScalarType type, at::MemoryFormat format) {
  const auto channels = shape[1];
  const auto of_channels = at::TensorOptions(type == at::kDouble ? at::kDouble : at::kFloat);
  auto sides = std::vector<std::int64_t>(shape.size(), 1);
  sides[1] = channels;
  NormCase n;
  n.mean = at::randn({channels}, of_channels).mul_(3);
  n.variance = at::rand({channels}, of_channels).add_(0.1);
  n.weight = at::randn({channels}, of_channels);
  n.bias = at::randn({channels}, of_channels);
  n.input = at::randn(shape).add_(n.mean.view(sides)).to(type).contiguous(format);
  n.residual = at::randn(shape).to(type).contiguous(format);
  return n;
}

constexpr double kEps = 1e-3;

at::Tensor emulated_norm(const NormCase& n, const at::Tensor& inverse = {}) {
  const auto output = at::empty_like(n.input);
  const auto arguments = norm_arguments(n.input, kEps);
  const auto address = [](const at::Tensor& t) {
    return t.defined() ? t.const_data_ptr() : nullptr;
  };
  const NormPlanes planes{address(n.mean), address(n.variance), address(n.weight), address(n.bias),
                          const_cast<void*>(address(inverse))};
  const auto run = [&]<class T>(void (*kernel)(const T*, const T*, T*, NormPlanes, NormArguments)) {
    emulated::launch(kernel, 3, 64, static_cast<const T*>(n.input.const_data_ptr()),
                     static_cast<const T*>(address(n.residual)),
                     static_cast<T*>(output.mutable_data_ptr()), planes, arguments);
  };
  by_type(n.input.scalar_type(), &kernels::batch_norm_relu_float, &kernels::batch_norm_relu_double,
          &kernels::batch_norm_relu_bfloat16, &kernels::batch_norm_relu_half, run);
  return output;
}

/// The formula, in double.
at::Tensor norm_by_formula(const NormCase& n) {
  auto sides = std::vector<std::int64_t>(static_cast<std::size_t>(n.input.dim()), 1);
  sides[1] = -1;
  const auto of = [&](const at::Tensor& t) { return t.to(at::kDouble).view(sides); };
  auto y = n.input.to(at::kDouble).sub(of(n.mean)).div(of(n.variance).add(kEps).sqrt());
  if (n.weight.defined()) y = y.mul(of(n.weight)).add(of(n.bias));
  if (n.residual.defined()) y = y.add(n.residual.to(at::kDouble));
  return y.clamp_min(0);
}

/// Half of the last place of a type, next to a number, and what single or double precision rounds
/// on the way.
double rounding(at::ScalarType type) {
  if (type == at::kBFloat16) return 1.0 / (1 << 8) + 1e-5;
  if (type == at::kHalf) return 1.0 / (1 << 11) + 1e-5;
  return type == at::kFloat ? 1e-5 : 1e-13;
}

void expect_the_formula(const NormCase& n) {
  const auto expected = norm_by_formula(n), found = emulated_norm(n).to(at::kDouble);
  const auto difference = found.sub(expected).abs().div(expected.add(1)).max().item<double>();
  EXPECT_LE(difference, rounding(n.input.scalar_type()))
      << n.input.sizes() << n.input.scalar_type();
}

TEST(BatchNormReluKernel, RoundsTheFormulaOnceInEveryTypeAndFormat) {
  const auto plain = at::MemoryFormat::Contiguous, last = at::MemoryFormat::ChannelsLast;
  for (const auto type : kTypes)
    for (const std::int64_t channels : {3, 8})
      for (const std::int64_t side : {1, 4, 5}) {
        expect_the_formula(drawn_norm({3, channels, side, side}, type, plain));
        expect_the_formula(drawn_norm({3, channels, side, side}, type, last));
        expect_the_formula(drawn_norm({9, channels}, type, plain));
        expect_the_formula(drawn_norm({2, channels, 2, side, 3}, type, plain));
      }
}

TEST(BatchNormReluKernel, DoesWithoutResidualAndScale) {
  for (const std::int64_t channels : {3, 8}) {
    auto n = drawn_norm({5, channels, 4, 4}, at::kFloat, at::MemoryFormat::ChannelsLast);
    n.residual.reset();
    expect_the_formula(n);
    n.weight.reset();
    n.bias.reset();
    expect_the_formula(n);
  }
}

// The sum of the CPU's operators is rounded up to three times in half precision.
TEST(BatchNormReluKernel, IsNearTheCpus) {
  for (const auto type : kTypes) {
    const auto n = drawn_norm({6, 8, 5, 5}, type, at::MemoryFormat::ChannelsLast);
    auto normed = std::get<0>(
        at::native_batch_norm(n.input, n.weight, n.bias, n.mean, n.variance, false, 0, kEps));
    const auto near = at::relu(normed.add_(n.residual)).to(at::kDouble);
    const auto difference = emulated_norm(n).to(at::kDouble).sub(near).abs().max().item<double>();
    EXPECT_LE(difference, 3 * rounding(type) * (1 + normed.abs().max().item<double>())) << type;
  }
}

TEST(BatchNormReluKernel, KeepsWhatItsBackwardPassNeeds) {
  const auto n = drawn_norm({2, 7, 3, 3}, at::kDouble, at::MemoryFormat::Contiguous);
  const auto inverse = at::empty_like(n.variance);
  emulated_norm(n, inverse);
  EXPECT_LE(inverse.sub(n.variance.add(kEps).rsqrt()).abs().max().item<double>(), 1e-14);
}

TEST(BatchNormReluKernel, KeepsNan) {
  auto n = drawn_norm({2, 4, 3, 3}, at::kFloat, at::MemoryFormat::ChannelsLast);
  n.input.select(0, 1).select(0, 2).fill_(std::numeric_limits<float>::quiet_NaN());
  EXPECT_TRUE(emulated_norm(n).isnan().equal(n.input.isnan()));
}

}  // namespace
}  // namespace ddptrain
