#include "generation/sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace ddptrain {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::Pointwise;
using TokenList = std::vector<std::int64_t>;

constexpr double kNone = -std::numeric_limits<double>::infinity();

std::vector<double> logs(std::vector<double> shares) {
  for (auto& share : shares) share = std::log(share);
  return shares;
}

TEST(Sampling, PlainProbabilitiesAreTheSoftmax) {
  const std::vector<double> shares{0.1, 0.2, 0.3, 0.4};
  EXPECT_THAT(probabilities(logs(shares), {}, {}), Pointwise(DoubleNear(1e-15), shares));
}

TEST(Sampling, GreedyIsTheFirstOfTheLargest) {
  SamplingOptions options;
  options.temperature = 0;
  EXPECT_EQ(next_token({1, 3, 3, 2}, {}, options, 0.99), 1);
}

TEST(Sampling, GreedyObeysPenalties) {
  SamplingOptions options;
  options.temperature = 0;
  options.repetition_penalty = 2;
  const TokenList before{1};
  EXPECT_EQ(next_token({1, 3, 2}, before, options, 0), 2);
  EXPECT_EQ(next_token({-3, -1, -2.5}, before, options, 0), 1) << "-2 is still above -2.5";
}

TEST(Sampling, NoRunOccursTwice) {
  SamplingOptions options;
  options.no_repeat_ngram = 3;
  std::vector<double> scores{0, 0, 0, 0};
  penalize(scores, TokenList{0, 1, 2, 0, 1}, options);
  EXPECT_THAT(scores, ElementsAre(0, 0, kNone, 0));
  scores = {0, 0};
  options.no_repeat_ngram = 1;
  penalize(scores, TokenList{1}, options);
  EXPECT_THAT(scores, ElementsAre(0, kNone));
  scores = {0, 0};
  options.no_repeat_ngram = 5;
  penalize(scores, TokenList{1, 1, 1}, options);
  EXPECT_THAT(scores, ElementsAre(0, 0)) << "four tokens hold no run of five";
}

TEST(Sampling, EveryTokenForbiddenIsAnError) {
  SamplingOptions options;
  options.no_repeat_ngram = 1;
  const TokenList before{0, 1};
  EXPECT_THROW(next_token({1, 2}, before, options, 0.5), Error);
  options.temperature = 0;
  EXPECT_THROW(next_token({1, 2}, before, options, 0.5), Error);
}

TEST(Sampling, ScoresThatAreNotNumbersAreAnError) {
  EXPECT_THROW(next_token({1, std::nan("")}, {}, {}, 0.5), Error);
  EXPECT_THROW(next_token({1, -kNone}, {}, {}, 0.5), Error);
  EXPECT_EQ(next_token({1, kNone}, {}, {}, 0.999), 0);
}

TEST(Sampling, OneTokenStaysUnderTheSmallestLimits) {
  SamplingOptions options;
  options.top_p = 1e-300;
  EXPECT_THAT(probabilities({0, 0, 0}, {}, options), ElementsAre(0, 0, 1));
  options.top_p = 1;
  options.typical_p = 1e-300;
  EXPECT_THAT(probabilities(logs({0.2, 0.7, 0.1}), {}, options), ElementsAre(0, 1, 0));
}

TEST(Sampling, DrawsByCumulativeProbability) {
  const std::vector<double> shares{0, 0.25, 0, 0.5, 0.25, 0};
  EXPECT_EQ(draw(shares, 0), 1);
  EXPECT_EQ(draw(shares, 0.2499), 1);
  EXPECT_EQ(draw(shares, 0.25), 3);
  EXPECT_EQ(draw(shares, 0.7499), 3);
  EXPECT_EQ(draw(shares, 0.75), 4);
  EXPECT_EQ(draw(shares, 0.9999999), 4);
}

TEST(Sampling, DrawsHaveTheFrequenciesOfTheirProbabilities) {
  const std::vector<double> shares{0.5, 0.3, 0.2};
  std::vector<double> counts(3);
  constexpr int kDraws = 20000;
  for (int place = 0; place < kDraws; ++place)
    ++counts[static_cast<std::size_t>(draw(shares, uniform_at(7, 3, place)))];
  for (std::size_t i = 0; i < 3; ++i)  // five standard deviations
    EXPECT_NEAR(counts[i] / kDraws, shares[i], 5 * std::sqrt(shares[i] * (1 - shares[i]) / kDraws));
}

TEST(Sampling, NumbersDifferBySeedSequenceAndPlace) {
  const auto number = uniform_at(1, 2, 3);
  EXPECT_EQ(number, uniform_at(1, 2, 3));
  EXPECT_NE(number, uniform_at(2, 2, 3));
  EXPECT_NE(number, uniform_at(1, 3, 3));
  EXPECT_NE(number, uniform_at(1, 2, 4));
}

}  // namespace
}  // namespace ddptrain
