// The rule of torch.amp.GradScaler.
#include "optim/loss_scale.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

TEST(LossScale, BacksOffAfterAStepThatIsNotFinite) {
  LossScale scale;
  EXPECT_EQ(scale.scale(), 65536);
  scale.update(false);
  EXPECT_EQ(scale.scale(), 32768);
}

TEST(LossScale, GrowsAfterAnIntervalOfFiniteSteps) {
  LossScale scale({.initial = 8, .growth_interval = 3});
  for (int i = 0; i < 2; ++i) scale.update(true);
  EXPECT_EQ(scale.scale(), 8);
  scale.update(true);
  EXPECT_EQ(scale.scale(), 16);
  EXPECT_EQ(scale.finite_steps(), 0);
}

TEST(LossScale, CountsAnewAfterABadStep) {
  LossScale scale({.initial = 8, .growth_interval = 2});
  scale.update(true);
  scale.update(false);
  scale.update(true);
  EXPECT_EQ(scale.scale(), 4);
}

TEST(LossScale, NeverGrowsPastFloat) {
  LossScale scale({.initial = 3e38, .growth_interval = 1});
  scale.update(true);
  EXPECT_EQ(scale.scale(), 3e38);
}

TEST(LossScale, GoesOnFromItsState) {
  LossScale scale({.initial = 8, .growth_interval = 2}),
      resumed({.initial = 1, .growth_interval = 2});
  scale.update(true);
  resumed.load(scale.state());
  resumed.update(true);
  EXPECT_EQ(resumed.scale(), 16);
}

}  // namespace
}  // namespace ddptrain
