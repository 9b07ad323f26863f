// How large a language model `init` writes, and for how long it trains.
#include "jobs/draft/language_recipe.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

constexpr bool kGpu = true;

TEST(LanguagePlan, GrowsWithTheText) {
  const auto small = plan_language({20'000, 0, false});
  const auto medium = plan_language({500'000, 0, false});
  EXPECT_LT(small.layers, medium.layers);
  EXPECT_LT(small.width, medium.width);
  EXPECT_LT(small.length, medium.length);
  EXPECT_LT(small.vocabulary, medium.vocabulary);
  EXPECT_LT(medium.width, plan_language({5'000'000, 0, kGpu}).width);
  EXPECT_EQ(medium.width, plan_language({5'000'000, 0, false}).width);
}

TEST(LanguagePlan, LearnsFewWordsForTwoHundredSteps) {
  const auto plan = plan_language({1000, 0, false});
  const auto blocks = 999 / plan.length;
  EXPECT_GE(plan.epochs * (blocks / plan.batch), 200);
  EXPECT_GE(blocks, plan.batch) << "an epoch has a whole batch";
}

TEST(LanguagePlan, PassesOverManyTextsLessThanOnce) {
  const auto plan = plan_language({100'000'000, 0, false});
  EXPECT_EQ(plan.epochs, 0);
  EXPECT_GT(plan.steps, 100);
  EXPECT_LT(plan.steps * plan.batch * plan.length, 100'000'000);
}

// Six operations a weight and token: Kaplan et al. 2020.
TEST(LanguagePlan, TakesMinutes) {
  for (const std::int64_t vocabulary : {0, 50'257}) {
    const auto plan = plan_language({100'000'000, vocabulary, false});
    const auto weights = 12 * plan.layers * plan.width * plan.width + plan.vocabulary * plan.width;
    const auto tokens = plan.steps * plan.batch * plan.length;
    EXPECT_NEAR(6.0 * static_cast<double>(weights) * static_cast<double>(tokens), 2e13, 1e12);
  }
}

TEST(LanguagePlan, LeavesAVocabularyThatTheDataBring) {
  const LanguageSize size{500'000, 50'257, false};
  EXPECT_EQ(plan_language(size).vocabulary, 50'257);
  EXPECT_EQ(language_lines(size, "").find("vocabulary:"), std::string::npos);
  EXPECT_NE(language_lines({500'000, 0, false}, "").find("vocabulary:"), std::string::npos);
}

}  // namespace
}  // namespace ddptrain
