// The text of the kernels of batch norm over rows of channels, compiled here as C++ of the host,
// against the formulas in double precision.
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/threshold_backward.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <limits>

#include "accelerator/cuda/kernels/arguments.h"
#include "accelerator/emulated_cuda.h"

namespace ddptrain::kernels {
#include "accelerator/cuda/kernels/norm_rows.cu"
}  // namespace ddptrain::kernels

namespace ddptrain {
namespace {

constexpr double kRowsEps = 1e-3, kMomentum = 0.3;
constexpr at::ScalarType kRowTypes[] = {at::kFloat, at::kBFloat16, at::kHalf};

/// Calls with the four kernels of a type.
template <class Call>
void with_kernels(at::ScalarType type, const Call& call) {
  using namespace kernels;
  if (type == at::kFloat)
    call(&norm_rows_sums_float, &norm_rows_forward_float, &norm_rows_backward_sums_float,
         &norm_rows_backward_float);
  if (type == at::kBFloat16)
    call(&norm_rows_sums_bfloat16, &norm_rows_forward_bfloat16, &norm_rows_backward_sums_bfloat16,
         &norm_rows_backward_bfloat16);
  if (type == at::kHalf)
    call(&norm_rows_sums_half, &norm_rows_forward_half, &norm_rows_backward_sums_half,
         &norm_rows_backward_half);
}

/// Rows of channels far from zero, of small and large deviations.
struct RowsCase {
  at::Tensor x, residual, dy, weight, bias;  // a residual may be undefined
  bool relu = true;
};

RowsCase drawn_rows(std::int64_t rows, std::int64_t channels, at::ScalarType type) {
  const auto scale = at::rand({channels}).mul_(3).add_(0.1), place = at::randn({channels}).mul_(5);
  RowsCase c;
  c.x = at::randn({rows, channels}).mul_(scale).add_(place).to(type);
  c.residual = at::randn({rows, channels}).to(type);
  c.dy = at::randn({rows, channels}).to(type);
  c.weight = at::randn({channels});
  c.bias = at::randn({channels});
  return c;
}

/// What the kernels give.
struct RowsResults {
  at::Tensor mean, inverse, running_mean, running_var, y, behind, dx, dweight, dbias;
};

const float* floats(const at::Tensor& t) {
  return t.defined() ? t.const_data_ptr<float>() : nullptr;
}

template <class T>
const T* numbers(const at::Tensor& t) {
  return t.defined() ? static_cast<const T*>(t.const_data_ptr()) : nullptr;
}

template <class T>
T* written(const at::Tensor& t) {
  return t.defined() ? static_cast<T*>(t.mutable_data_ptr()) : nullptr;
}

/// In so many blocks along x.
RowsResults emulated_rows(const RowsCase& c, unsigned blocks) {
  const auto channels = c.x.size(1);
  auto a = rows_arguments(c.x, c.relu, kRowsEps);
  const auto along_y = static_cast<unsigned>((channels / kRowsLane + a.lanes - 1) / a.lanes);
  const emulated::Index grid{blocks, along_y, 1};
  const emulated::Index joining{static_cast<unsigned>((channels + kRowsJoined - 1) / kRowsJoined),
                                1, 1};
  const auto plane = [&] { return at::full({channels}, 7.F); };
  RowsResults r{plane(),
                plane(),
                at::zeros({channels}),
                at::ones({channels}),
                at::empty_like(c.x),
                {},
                at::empty_like(c.x),
                plane(),
                plane()};
  const auto partial = at::full({blocks, 2, channels}, 99.F), counts = at::full({blocks}, 99.F),
             along = at::full({2, channels}, 99.F);
  if (c.residual.defined() && c.relu) r.behind = at::empty_like(c.x);
  const RowsStatistics statistics{written<float>(r.mean), written<float>(r.inverse),
                                  written<float>(r.running_mean), written<float>(r.running_var),
                                  kMomentum};
  const RowsTotals totals{written<float>(r.dweight), written<float>(r.dbias),
                          written<float>(along)};
  const RowsPlanes planes{floats(r.mean), floats(r.inverse), nullptr, floats(c.weight),
                          floats(c.bias)};
  const auto together = [](const emulated::Index& of, auto kernel, auto... arguments) {
    emulated::launch_together(kernel, of, kRowsThreads, arguments...);
  };
  with_kernels(c.x.scalar_type(), [&]<class T>(
                                      void (*sums)(const T*, float*, float*, RowsArguments),
                                      auto forward, auto backward_sums, auto backward) {
    const auto count = static_cast<int>(blocks);
    together(grid, sums, numbers<T>(c.x), written<float>(partial), written<float>(counts), a);
    together(joining, &kernels::norm_rows_statistics, floats(partial), floats(counts), count,
             statistics, a);
    together(grid, forward, numbers<T>(c.x), numbers<T>(c.residual), written<T>(r.y), planes, a);
    together(grid, backward_sums, numbers<T>(c.dy), numbers<T>(c.x),
             r.behind.defined() ? numbers<T>(r.y) : nullptr, written<T>(r.behind),
             written<float>(partial), planes, a);
    together(joining, &kernels::norm_rows_totals, floats(partial), count, floats(r.inverse), totals,
             a);
    if (r.behind.defined()) a.relu = 0;
    together(grid, backward, numbers<T>(r.behind.defined() ? r.behind : c.dy), numbers<T>(c.x),
             written<T>(r.dx), floats(along), planes, a);
  });
  return r;
}

/// The same by the formulas at the head of norm_rows.cu, in double; ReLU cuts where `y` does.
RowsResults by_formula(const RowsCase& c, const at::Tensor& y) {
  const auto wide = [](const at::Tensor& t) { return t.to(at::kDouble); };
  const auto x = wide(c.x);
  const auto n = static_cast<double>(c.x.size(0));
  RowsResults r;
  r.mean = x.mean(0);
  const auto distance = x.sub(r.mean);
  const auto squares = distance.square().sum(0);
  r.inverse = squares.div(n).add(kRowsEps).rsqrt();
  r.running_mean = r.mean.mul(kMomentum);
  r.running_var = squares.div(n - 1).mul(kMomentum).add(1 - kMomentum);
  const auto scale = c.weight.defined() ? wide(c.weight).mul(r.inverse) : r.inverse;
  r.y = distance.mul(scale);
  if (c.bias.defined()) r.y.add_(wide(c.bias));
  if (c.residual.defined()) r.y.add_(wide(c.residual));
  if (c.relu) r.y.clamp_min_(0);
  r.behind = c.relu ? at::threshold_backward(wide(c.dy), wide(y), 0) : wide(c.dy);
  const auto products = r.behind.mul(distance).sum(0);
  r.dbias = r.behind.sum(0);
  r.dweight = products.mul(r.inverse);
  r.dx = r.behind.sub(r.dbias.div(n))
             .sub(distance.mul(r.inverse.square().mul(products).div(n)))
             .mul(scale);
  return r;
}

/// The largest difference, next to the largest number and 1.
double apart(const at::Tensor& found, const at::Tensor& expected) {
  return found.to(at::kDouble).sub(expected).abs().max().item<double>() /
         (1 + expected.abs().max().item<double>());
}

/// A type's unit roundoff, and what single precision rounds on the way.
double rounded_once(at::ScalarType type) {
  if (type == at::kBFloat16) return 1.0 / (1 << 8) + 1e-5;
  return type == at::kHalf ? 1.0 / (1 << 11) + 1e-5 : 1e-5;
}

void expect_the_formulas(const RowsCase& c, unsigned blocks) {
  ASSERT_TRUE(norm_rows_take(c.x));
  const auto found = emulated_rows(c, blocks);
  const auto expected = by_formula(c, found.y);
  const auto label = testing::Message() << c.x.sizes() << c.x.scalar_type() << ' ' << blocks
                                        << " blocks, relu " << c.relu;
  EXPECT_LE(apart(found.mean, expected.mean), 1e-6) << label;
  EXPECT_LE(found.inverse.to(at::kDouble).div(expected.inverse).sub(1).abs().max().item<double>(),
            1e-5)
      << label;
  EXPECT_LE(apart(found.running_mean, expected.running_mean), 1e-6) << label;
  EXPECT_LE(apart(found.running_var, expected.running_var), 1e-5) << label;
  const double once = rounded_once(c.x.scalar_type());
  EXPECT_LE(apart(found.y, expected.y), once) << label;
  EXPECT_LE(apart(found.dbias, expected.dbias), 1e-5) << label;
  EXPECT_LE(apart(found.dweight, expected.dweight), 1e-5) << label;
  EXPECT_LE(apart(found.dx, expected.dx), once) << label;
  if (found.behind.defined()) {
    EXPECT_TRUE(found.behind.to(at::kDouble).equal(expected.behind)) << label;
  }
}

// One lane and many, blocks with threads left over, more blocks along y than one, more blocks than
// rows, and rows that the threads' turns do not divide.
TEST(NormRowsKernels, FollowTheFormulasInEveryTypeAndSize) {
  for (const auto type : kRowTypes)
    for (const auto& [rows, channels, blocks] : std::vector<std::array<std::int64_t, 3>>{
             {5, 8, 1}, {37, 24, 2}, {1500, 16, 3}, {70, 64, 9}, {130, 520, 2}})
      expect_the_formulas(drawn_rows(rows, channels, type), static_cast<unsigned>(blocks));
}

TEST(NormRowsKernels, DoWithoutResidualScaleAndRelu) {
  for (const auto type : kRowTypes) {
    auto c = drawn_rows(90, 24, type);
    c.residual.reset();
    expect_the_formulas(c, 2);
    c.relu = false;
    expect_the_formulas(c, 2);
    c.weight.reset();
    c.bias.reset();
    expect_the_formulas(c, 2);
    c.relu = true;
    expect_the_formulas(c, 2);
  }
}

// A thousand deviations from zero: sums of squares would have lost them in single precision.
TEST(NormRowsKernels, FindASmallVarianceFarFromZero) {
  auto c = drawn_rows(3000, 8, at::kFloat);
  c.x = at::randn({3000, 8}).add_(1000);
  const auto found = emulated_rows(c, 4);
  const auto variance = c.x.to(at::kDouble).var(0, /*unbiased=*/false);
  EXPECT_LE(found.inverse.to(at::kDouble)
                .pow(-2)
                .sub(kRowsEps)
                .div(variance)
                .sub(1)
                .abs()
                .max()
                .item<double>(),
            1e-5);
}

TEST(NormRowsKernels, HaveOneOrderOfSums) {
  const auto c = drawn_rows(500, 64, at::kBFloat16);
  const auto once = emulated_rows(c, 5), again = emulated_rows(c, 5);
  EXPECT_TRUE(once.mean.equal(again.mean));
  EXPECT_TRUE(once.dx.equal(again.dx));
  EXPECT_TRUE(once.dweight.equal(again.dweight));
}

TEST(NormRowsKernels, KeepNanInItsChannel) {
  auto c = drawn_rows(40, 8, at::kFloat);
  c.x[17][3] = std::numeric_limits<float>::quiet_NaN();
  const auto found = emulated_rows(c, 2);
  for (const auto& tensor : {found.y, found.dx}) {
    EXPECT_TRUE(tensor.select(1, 3).isnan().all().item<bool>());
    EXPECT_EQ(tensor.isnan().sum().item<std::int64_t>(), 40);
  }
  EXPECT_TRUE(found.running_var[3].isnan().item<bool>());
}

TEST(NormRowsKernels, LeaveOtherInputsToOthers) {
  const auto last = at::MemoryFormat::ChannelsLast;
  EXPECT_TRUE(norm_rows_take(at::randn({2, 8, 3, 3}).contiguous(last)));
  EXPECT_TRUE(norm_rows_take(at::randn({2, 4})));
  EXPECT_FALSE(norm_rows_take(at::randn({2, 8, 3, 3}))) << "planes";
  EXPECT_FALSE(norm_rows_take(at::randn({2, 6, 3, 3}).contiguous(last))) << "a lane and a half";
  EXPECT_FALSE(norm_rows_take(at::randn({2, 8}, at::kDouble)));
  EXPECT_FALSE(norm_rows_take(at::randn({0, 8})));
  EXPECT_FALSE(norm_rows_take(at::randn({33}).slice(0, 1).view({4, 8}))) << "not aligned";
}

}  // namespace
}  // namespace ddptrain
