// Bytes of operators, by arithmetic.
#include "train/build/traffic.h"

#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>

namespace ddptrain {
namespace {

TEST(Traffic, IsWhatAnOperatorTakesAndReturns) {
  const auto a = at::ones({1000}), b = at::ones({1000});
  const TrafficCounter counter;
  at::add(a, b);
  EXPECT_EQ(counter.bytes(), 3 * 4000);
}

TEST(Traffic, OfViewsAndNewTensorsIsNothing) {
  const auto a = at::ones({10, 100});
  const TrafficCounter counter;
  a.t().view({-1, 10}).select(0, 3);
  at::empty({1000});
  EXPECT_EQ(counter.bytes(), 0);
}

TEST(Traffic, OfAnOperatorThatCallsAnotherCountsOnce) {
  const auto input = at::ones({10, 20}), weight = at::ones({30, 20}), bias = at::ones({30});
  const TrafficCounter counter;
  at::linear(input, weight, bias);
  EXPECT_EQ(counter.bytes(), 4 * (10 * 20 + 30 * 20 + 30 + 10 * 30));
}

TEST(Traffic, OfABroadcastReadsWhatIsThere) {
  const auto a = at::ones({1, 1000}).expand({50, 1000});
  const TrafficCounter counter;
  a.clone();
  EXPECT_EQ(counter.bytes(), 4000 + 50 * 4000);
}

}  // namespace
}  // namespace ddptrain
