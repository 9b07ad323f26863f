// The text of the kernels of layer norm after a sum, compiled here as C++ of the host, against
// autograd through LibTorch's layer norm in double precision.
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "accelerator/cuda/kernels/arguments.h"
#include "accelerator/kernel_types.h"

namespace ddptrain::kernels {
#include "accelerator/cuda/kernels/residual_norm.cu"
}  // namespace ddptrain::kernels

namespace ddptrain {
namespace {

/// [rows, features]; of a kernel's type, and of that in which it computes.
struct ResidualCase {
  at::ScalarType type, wide;
  at::Tensor input, branch, weight, bias;  // branch: undefined without one
  at::Tensor of_sum, of_normalized;        // gradients; the first may be undefined
};

ResidualCase drawn_residual(std::int64_t rows, std::int64_t features, at::ScalarType type) {
  const auto wide = type == at::kDouble ? at::kDouble : at::kFloat;
  const auto draw = [&](at::IntArrayRef sizes, at::ScalarType as) {
    return at::randn(sizes, at::kDouble).to(as);
  };
  return {type,
          wide,
          draw({rows, features}, wide).add(3),
          draw({rows, features}, type),
          draw({features}, wide),
          draw({features}, wide),
          draw({rows, features}, wide),
          draw({rows, features}, type)};
}

struct ResidualResults {
  at::Tensor sum, normalized, of_input, of_branch, of_weight, of_bias;
};

template <class T>
T* row_numbers(const at::Tensor& tensor) {
  return tensor.defined() ? static_cast<T*>(tensor.mutable_data_ptr()) : nullptr;
}

template <class T, int kLanes, int kFours>
ResidualResults emulated_residual(const ResidualCase& c) {
  using Wide = typename kernels::WideOf<T>::type;
  const auto options = c.input.options();
  const auto rows = c.input.size(0), features = c.input.size(1);
  ResidualResults r{c.branch.defined() ? at::empty_like(c.input) : at::Tensor(),
                    at::empty_like(c.of_normalized),
                    at::empty_like(c.input),
                    at::empty_like(c.of_normalized),
                    at::empty_like(c.weight),
                    at::empty_like(c.bias)};
  const auto means = at::empty({rows}, options), inverses = at::empty({rows}, options);
  const ResidualArguments a{rows, static_cast<int>(features), 1e-5};
  const unsigned blocks = 2;
  emulated::launch_together(
      kernels::residual_forward<T, kLanes, kFours>, {blocks, 1, 1}, kResidualThreads,
      row_numbers<const Wide>(c.input), row_numbers<const T>(c.branch),
      row_numbers<const Wide>(c.weight), row_numbers<const Wide>(c.bias), row_numbers<Wide>(r.sum),
      row_numbers<T>(r.normalized), row_numbers<Wide>(means), row_numbers<Wide>(inverses), a);
  const auto& stream = c.branch.defined() ? r.sum : c.input;
  const auto partial = at::empty({blocks, 2, features}, options);
  emulated::launch_together(kernels::residual_backward<T, kLanes, kFours>, {blocks, 1, 1},
                            kResidualThreads, row_numbers<const T>(c.of_normalized),
                            row_numbers<const Wide>(c.of_sum), row_numbers<const Wide>(stream),
                            row_numbers<const Wide>(means), row_numbers<const Wide>(inverses),
                            row_numbers<const Wide>(c.weight), row_numbers<Wide>(r.of_input),
                            row_numbers<T>(r.of_branch), row_numbers<Wide>(partial), a);
  emulated::launch_together(
      kernels::residual_totals<Wide>, {static_cast<unsigned>(features / kResidualJoined + 1), 1, 1},
      kResidualThreads, row_numbers<const Wide>(partial), static_cast<int>(blocks),
      row_numbers<Wide>(r.of_weight), row_numbers<Wide>(r.of_bias), a);
  return r;
}

ResidualResults residual_by_autograd(const ResidualCase& c) {
  const auto leaf = [](const at::Tensor& tensor) {
    return tensor.to(at::kDouble, false, /*copy=*/true).set_requires_grad(true);
  };
  const auto input = leaf(c.input), weight = leaf(c.weight), bias = leaf(c.bias);
  const auto sum = c.branch.defined() ? input.add(c.branch.to(at::kDouble)) : input.clone();
  const auto normalized = at::layer_norm(sum, {c.input.size(1)}, weight, bias, 1e-5);
  auto value = normalized.mul(c.of_normalized.to(at::kDouble)).sum();
  if (c.of_sum.defined()) value = value.add(sum.mul(c.of_sum.to(at::kDouble)).sum());
  value.backward();
  return {sum.detach(), normalized.detach(), input.grad(),
          input.grad(), weight.grad(),       bias.grad()};
}

double apart_of_rows(const at::Tensor& found, const at::Tensor& expected) {
  return found.to(at::kDouble).sub(expected).abs().max().item<double>() /
         (1 + expected.abs().max().item<double>());
}

template <class T, int kLanes, int kFours>
void expect_residual(const ResidualCase& c) {
  const auto found = emulated_residual<T, kLanes, kFours>(c);
  const auto expected = residual_by_autograd(c);
  const double exact = c.type == at::kDouble ? 1e-13 : 3e-6;
  const double rounded = c.type == at::kBFloat16 ? 1.0 / (1 << 8)
                         : c.type == at::kHalf   ? 1e-3
                                                 : exact;
  const auto label = testing::Message() << c.input.sizes() << c.type << " by " << kLanes;
  if (c.branch.defined()) {
    EXPECT_LE(apart_of_rows(found.sum, expected.sum), exact) << label;
  }
  EXPECT_LE(apart_of_rows(found.normalized, expected.normalized), rounded) << label;
  EXPECT_LE(apart_of_rows(found.of_input, expected.of_input), exact) << label;
  EXPECT_LE(apart_of_rows(found.of_branch, expected.of_branch), rounded) << label;
  EXPECT_LE(apart_of_rows(found.of_weight, expected.of_weight), exact) << label;
  EXPECT_LE(apart_of_rows(found.of_bias, expected.of_bias), exact) << label;
}

template <int kLanes, int kFours>
void expect_residual_of(const ResidualCase& c) {
  switch (c.type) {
    case at::kFloat:
      return expect_residual<float, kLanes, kFours>(c);
    case at::kDouble:
      return expect_residual<double, kLanes, kFours>(c);
    case at::kBFloat16:
      return expect_residual<kernels::BFloat16, kLanes, kFours>(c);
    default:
      expect_residual<kernels::Half, kLanes, kFours>(c);
  }
}

// Rows that no number of blocks divides, features that do not fill a thread's fours.
TEST(ResidualNormKernels, GiveAutogradsNumbersInEveryTypeAndSize) {
  for (const auto type : test::kTypes) {
    expect_residual_of<32, 1>(drawn_residual(19, 48, type));
    expect_residual_of<32, 6>(drawn_residual(9, 768, type));
    expect_residual_of<128, 2>(drawn_residual(5, 900, type));
    expect_residual_of<256, 1>(drawn_residual(3, 1024, type));
  }
}

TEST(ResidualNormKernels, TakeAStreamAloneAndOneWithoutAGradient) {
  auto c = drawn_residual(11, 64, at::kBFloat16);
  c.of_sum.reset();
  expect_residual_of<32, 1>(c);
  c.branch.reset();
  expect_residual_of<32, 1>(c);
}

// The smallest number of threads whose registers hold a row: 8 fours each, 256 threads.
TEST(ResidualNormKernels, LayARowOnThreads) {
  const auto lies = [](std::int64_t features, int lanes, int fours) {
    const auto found = row_threads(features);
    return found && found->lanes == lanes && found->fours == fours;
  };
  EXPECT_TRUE(lies(4, 32, 1));
  EXPECT_TRUE(lies(768, 32, 6));
  EXPECT_TRUE(lies(1024, 32, 8));
  EXPECT_TRUE(lies(1028, 64, 5));
  EXPECT_TRUE(lies(8192, 256, 8));
  EXPECT_FALSE(row_threads(8196));
  EXPECT_FALSE(row_threads(767));
  EXPECT_FALSE(row_threads(0));
}

}  // namespace
}  // namespace ddptrain
