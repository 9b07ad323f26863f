#include "train/step/sample_record.h"

#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

namespace ddptrain {
namespace {

constexpr OutputActivation kClasses{OutputActivation::Kind::softmax, 1};

LossTerms plain_terms(std::int64_t rows) { return {at::ones({rows}), at::ones({rows})}; }

TEST(SampleRecord, GivesTheTwoLikeliestClasses) {
  SampleRecord record(kClasses, 2);
  const auto output =
      at::tensor({0.0, std::log(3.0), 0.0, std::log(8.0), 0.0, 0.0}).reshape({2, 3});
  record.add(output, at::tensor({1L, 2L}), {at::tensor({0.5, 6.0}), at::tensor({1.0, 2.0})},
             {1, 0});
  const auto all = all_outcomes({record.drain()});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].index, 0);
  EXPECT_EQ(all[0].truth, 2);
  EXPECT_EQ(all[0].predicted, 0);
  EXPECT_NEAR(all[0].loss, 3, 1e-12);  // without its weight
  EXPECT_NEAR(all[0].probability, 0.8, 1e-12);
  EXPECT_NEAR(all[0].second, 0.1, 1e-12);
  EXPECT_EQ(all[1].predicted, 1);
  EXPECT_NEAR(all[1].probability, 0.6, 1e-12);
}

TEST(SampleRecord, GivesNumbersWithoutProbabilities) {
  SampleRecord record({}, 2);
  record.add(at::tensor({1.5, 2.5}).reshape({2, 1}), at::tensor({1.0, 3.0}), plain_terms(2),
             {0, 1});
  const auto all = all_outcomes({record.drain()});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].truth, 3);
  EXPECT_EQ(all[1].predicted, 2.5);
  EXPECT_TRUE(std::isnan(all[1].probability));
}

TEST(SampleRecord, LeavesOutOutputsThatAreNeither) {
  SampleRecord record(kClasses, 2);
  record.add(at::zeros({2, 3, 4, 4}), at::zeros({2, 4, 4}, at::kLong), plain_terms(2), {0, 1});
  EXPECT_EQ(record.drain().numel(), 0);
}

TEST(SampleRecord, OfManySamplesKeepsTheSameOnesHoweverTheyAreDealt) {
  SampleRecord first(kClasses, 100'001), second(kClasses, 100'001);
  const auto output = at::zeros({3, 2});
  first.add(output, at::zeros({3}, at::kLong), plain_terms(3), {0, 1, 2});
  second.add(output, at::zeros({3}, at::kLong), plain_terms(3), {3, 4, 5});
  const auto all = all_outcomes({second.drain(), first.drain()});
  ASSERT_EQ(all.size(), 2u);  // every third
  EXPECT_EQ(all[0].index, 0);
  EXPECT_EQ(all[1].index, 3);
}

}  // namespace
}  // namespace ddptrain
