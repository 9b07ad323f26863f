#include "models/projection.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>

namespace ddptrain {
namespace {

TEST(Projection, IsALinearLayerWithASoftCap) {
  const auto weight = at::tensor({2., 0., 0., -3.}, at::kDouble).view({2, 2});
  const auto bias = at::tensor({0.5, 1.}, at::kDouble);
  const auto hidden = at::tensor({1., 2.}, at::kDouble).view({1, 2});
  const auto plain = project(hidden, {weight, bias});  // 2 + 0.5, -6 + 1
  EXPECT_DOUBLE_EQ(plain[0][0].item<double>(), 2.5);
  EXPECT_DOUBLE_EQ(plain[0][1].item<double>(), -5);
  const auto scores = project(hidden, {weight, bias, 4});
  EXPECT_DOUBLE_EQ(scores[0][0].item<double>(), 4 * std::tanh(2.5 / 4));
  EXPECT_DOUBLE_EQ(scores[0][1].item<double>(), 4 * std::tanh(-5. / 4));
  EXPECT_FALSE(Projection());
}

}  // namespace
}  // namespace ddptrain
