// The text of the kernels of cross entropy over a vocabulary, compiled here as C++ of the host,
// against LibTorch's cross entropy in double precision.
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "accelerator/cuda/kernels/arguments.h"
#include "accelerator/kernel_types.h"

namespace ddptrain::kernels {
#include "accelerator/cuda/kernels/vocabulary_rows.cu"
}  // namespace ddptrain::kernels

namespace ddptrain {
namespace {

/// Scores [rows, width] of a vocabulary, labels, and gradients of the values.
struct ScoresCase {
  at::Tensor scores, labels, each;
  double label_smoothing = 0, z_loss = 0, soft_cap = 0;
  std::int64_t vocabulary = 0;
};

ScoresCase drawn_scores(std::int64_t rows, std::int64_t vocabulary, at::ScalarType type) {
  ScoresCase c;
  c.vocabulary = vocabulary;
  const auto wide = type == at::kDouble ? at::kDouble : at::kFloat;
  c.scores = at::randn({rows, (vocabulary + 63) / 64 * 64}).mul_(4).to(type);
  c.labels = at::randint(vocabulary, {rows}, at::kLong);
  c.each = at::rand({rows}).to(wide);
  return c;
}

struct ScoresResults {
  at::Tensor values, normalizers, slopes;
};

ScoresResults emulated_scores(const ScoresCase& c, unsigned blocks) {
  ScoresResults r{at::empty_like(c.each), at::empty_like(c.each), c.scores.clone()};
  const VocabularyArguments a{c.scores.size(0),
                              static_cast<int>(c.vocabulary),
                              static_cast<int>(c.scores.size(1)),
                              c.label_smoothing,
                              c.z_loss,
                              c.soft_cap};
  const auto* labels = reinterpret_cast<const long long*>(c.labels.const_data_ptr());
  const emulated::Index grid{blocks, 1, 1};
  const auto run =
      [&]<class T, class Wide>(
          void (*values)(const T*, const long long*, Wide*, Wide*, VocabularyArguments),
          void (*slopes)(T*, const long long*, const Wide*, const Wide*, VocabularyArguments)) {
        emulated::launch_together(values, grid, kVocabularyThreads,
                                  static_cast<const T*>(c.scores.const_data_ptr()), labels,
                                  static_cast<Wide*>(r.values.mutable_data_ptr()),
                                  static_cast<Wide*>(r.normalizers.mutable_data_ptr()), a);
        emulated::launch_together(slopes, grid, kVocabularyThreads,
                                  static_cast<T*>(r.slopes.mutable_data_ptr()), labels,
                                  static_cast<const Wide*>(r.normalizers.const_data_ptr()),
                                  static_cast<const Wide*>(c.each.const_data_ptr()), a);
      };
  using namespace kernels;
  switch (c.scores.scalar_type()) {
    case at::kFloat:
      run(&vocabulary_values_float, &vocabulary_slopes_float);
      break;
    case at::kDouble:
      run(&vocabulary_values_double, &vocabulary_slopes_double);
      break;
    case at::kBFloat16:
      run(&vocabulary_values_bfloat16, &vocabulary_slopes_bfloat16);
      break;
    default:
      run(&vocabulary_values_half, &vocabulary_slopes_half);
  }
  return r;
}

/// The values and their gradients by autograd, in double.
ScoresResults by_autograd(const ScoresCase& c) {
  const auto scores = c.scores.narrow(1, 0, c.vocabulary).to(at::kDouble).set_requires_grad(true);
  const auto capped =
      c.soft_cap > 0 ? scores.div(c.soft_cap).tanh().mul(c.soft_cap) : scores.clone();
  const auto normalizers = capped.logsumexp(1);
  const auto values =
      at::cross_entropy_loss(capped, c.labels, {}, at::Reduction::None, -100, c.label_smoothing)
          .add(normalizers.square(), c.z_loss);
  values.mul(c.each.to(at::kDouble)).sum().backward();
  return {values.detach(), normalizers.detach(), scores.grad()};
}

double farthest(const at::Tensor& found, const at::Tensor& expected) {
  return found.to(at::kDouble).sub(expected).abs().max().item<double>() /
         (1 + expected.abs().max().item<double>());
}

void expect_autograds(const ScoresCase& c, unsigned blocks = 2) {
  ASSERT_TRUE(are_rows_of_fours(c.scores));
  const auto found = emulated_scores(c, blocks);
  const auto expected = by_autograd(c);
  const auto type = c.scores.scalar_type();
  // A normalizer is rounded next to its own size, and shares are exponentials of its error.
  const double size = std::max(1.0, c.scores.abs().max().item<double>() / 16);
  const double exact = (type == at::kDouble ? 1e-12 : 2e-6) * size;
  const double rounded = type == at::kBFloat16 ? 1.0 / (1 << 8) : type == at::kHalf ? 1e-3 : exact;
  const auto label = testing::Message() << c.scores.sizes() << type << c.vocabulary;
  EXPECT_LE(farthest(found.values, expected.values), exact) << label;
  EXPECT_LE(farthest(found.normalizers, expected.normalizers), exact) << label;
  EXPECT_LE(farthest(found.slopes.narrow(1, 0, c.vocabulary), expected.slopes), rounded) << label;
  const auto rest = c.scores.size(1) - c.vocabulary;
  EXPECT_TRUE(found.slopes.narrow(1, c.vocabulary, rest).eq(0).all().item<bool>()) << label;
}

// A vocabulary that fours do not divide, one with fewer fours than threads, one of several turns.
TEST(VocabularyKernels, GiveAutogradsNumbersInEveryTypeAndSize) {
  for (const auto type : test::kTypes)
    for (const auto& [rows, vocabulary] :
         std::vector<std::array<std::int64_t, 2>>{{3, 5}, {5, 64}, {4, 1031}, {3, 5003}})
      expect_autograds(drawn_scores(rows, vocabulary, type));
}

TEST(VocabularyKernels, SmoothAndCapAndKeepNormalizersSmall) {
  for (const auto type : test::kTypes) {
    auto c = drawn_scores(4, 77, type);
    c.label_smoothing = 0.1;
    expect_autograds(c);
    c.z_loss = 0.01;
    expect_autograds(c);
    c.soft_cap = 5;
    expect_autograds(c);
  }
}

TEST(VocabularyKernels, TakeLargeScores) {
  auto c = drawn_scores(3, 300, at::kFloat);
  c.scores.mul_(1000);
  expect_autograds(c, 5);
}

TEST(VocabularyKernels, LeaveOtherScoresToOthers) {
  EXPECT_TRUE(are_rows_of_fours(at::randn({3, 8})));
  EXPECT_FALSE(are_rows_of_fours(at::randn({3, 9})));
  EXPECT_FALSE(are_rows_of_fours(at::randn({3, 16}).narrow(1, 0, 8)));
  EXPECT_FALSE(are_rows_of_fours(at::randn({0, 8})));
}

}  // namespace
}  // namespace ddptrain
