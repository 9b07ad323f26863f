#include "models/operators/residual_norm.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include "models/nets.h"

namespace ddptrain {
namespace {

at::Tensor row_of(const std::vector<double>& values) {
  return at::tensor(values, at::kDouble).view({1, -1});
}

LayerNormTerms terms_of(const std::vector<double>& weight, const std::vector<double>& bias) {
  return {at::tensor(weight, at::kDouble), at::tensor(bias, at::kDouble), 0};
}

// 1 + 2, 3 + 4: mean 5, variance 4.
TEST(ResidualNorm, NormalizesTheSumAndGivesIt) {
  const auto [sum, normalized] =
      residual_norm(row_of({1.0, 3.0}), row_of({2.0, 4.0}), terms_of({2, 3}, {1, 0}));
  EXPECT_TRUE(sum.equal(row_of({3.0, 7.0})));
  EXPECT_LT(test::largest_difference(normalized, row_of({-1.0, 3.0})), 1e-12);
}

TEST(ResidualNorm, OfAnInputAloneGivesIt) {
  const auto input = row_of({3.0, 7.0});
  const auto [sum, normalized] = residual_norm(input, {}, terms_of({2, 3}, {1, 0}));
  EXPECT_TRUE(sum.is_same(input));
  EXPECT_LT(test::largest_difference(normalized, row_of({-1.0, 3.0})), 1e-12);
}

}  // namespace
}  // namespace ddptrain
