#include "recipe/period.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

const RunLength kRun{.total = 700, .per_epoch = 7, .global = 32};

TEST(Duration, BecomesStepsOfTheRun) {
  EXPECT_EQ(in_steps(epochs(5), kRun), 35);
  EXPECT_EQ(in_steps(steps(1000), kRun), 1000);
  EXPECT_EQ(in_steps({100, Duration::Unit::samples}, kRun), 4);  // 3.125 batches
  EXPECT_EQ(in_steps({0.75, Duration::Unit::share}, kRun), 525);
  EXPECT_EQ(in_steps(epochs(0.01), kRun), 1);
  EXPECT_FALSE(in_steps({30, Duration::Unit::seconds}, kRun).has_value());
}

TEST(Period, IsDueAtEachMultiple) {
  const Period every(steps(3), kRun);
  EXPECT_FALSE(every.due(0));
  EXPECT_FALSE(every.due(2));
  EXPECT_TRUE(every.due(3));
  EXPECT_TRUE(every.due(6));
}

TEST(Period, OfAFractionIsDueAtTheNearestStepOnceEach) {
  const Period half_epoch(epochs(0.5), kRun);  // every 3.5 steps
  int count = 0;
  for (int step = 1; step <= 70; ++step) count += half_epoch.due(step) ? 1 : 0;
  EXPECT_EQ(count, 20);
  EXPECT_TRUE(half_epoch.due(7));
}

TEST(Period, ShorterThanAStepIsDueAtEveryStep) {
  const Period samples({8, Duration::Unit::samples}, kRun);
  EXPECT_TRUE(samples.due(1));
  EXPECT_TRUE(samples.due(2));
}

TEST(Period, InSecondsIsDueByTheClockAlone) {
  const Period timed({30, Duration::Unit::seconds}, kRun);
  EXPECT_TRUE(timed.timed());
  EXPECT_FALSE(timed.due(30));
  EXPECT_FALSE(timed.due_after(29.5));
  EXPECT_TRUE(timed.due_after(30));
}

}  // namespace
}  // namespace ddptrain
