#include "optim/ema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "optim/parameters.h"

namespace ddptrain::testing_optim {
namespace {

using testing::ElementsAre;

void set(const NamedTensor& p, double value) { p.tensor.detach().fill_(value); }

TEST(Ema, TheFirstUpdateCopies) {
  const auto p = parameter("p", {1});
  Ema ema({p}, 0.75);
  set(p, 8);
  ema.update();
  EXPECT_THAT(values(ema.parameters()[0].tensor), ElementsAre(8));
  set(p, 4);
  ema.update();  // 0.75 * 8 + 0.25 * 4
  EXPECT_THAT(values(ema.parameters()[0].tensor), ElementsAre(7));
}

TEST(Ema, EqualAveragesAreMeans) {
  const auto p = parameter("p", {0});
  Ema mean({p}, EmaOptions{.type = Averaging::swa});
  for (const double value : {1, 2, 6}) {
    set(p, value);
    mean.update();
  }
  EXPECT_NEAR(values(mean.parameters()[0].tensor)[0], 3, 1e-12);
}

TEST(Ema, WarmupRisesToTheDecay) {
  const EmaOptions options{.decay = 0.9, .warmup = true};
  EXPECT_EQ(kept_share(options, 0), 0);
  EXPECT_NEAR(kept_share(options, 7), 0.75, 1e-12);  // 1 - 8^(-2/3)
  EXPECT_EQ(kept_share(options, 1000), 0.9);
}

// timm's ModelEmaV3(warmup_power=0.75) keeps 0.7898 at this update: 1 - 8^(-3/4).
TEST(Ema, WarmupHasAPowerAndAPace) {
  const EmaOptions steep{.decay = 0.9999, .warmup = true, .warmup_power = 0.75};
  EXPECT_NEAR(kept_share(steep, 7), 0.7898, 1e-4);
  const EmaOptions slow{.decay = 0.9999, .warmup = true, .warmup_gamma = 10, .warmup_power = 0.75};
  EXPECT_NEAR(kept_share(slow, 70), 0.7898, 1e-4);
}

// timm 1.0.31: step = max(0, step - update_after_step - 1), from 1; 0 copies; the rest is bounded.
TEST(Ema, WarmupBeginsAfterItsStepsAndAtItsLeast) {
  const EmaOptions options{.decay = 0.9, .warmup = true, .min_decay = 0.5, .update_after_step = 10};
  EXPECT_EQ(kept_share(options, 10), 0);
  EXPECT_EQ(kept_share(options, 11), 0.5);  // 1 - 2^(-2/3) is less
  EXPECT_NEAR(kept_share(options, 17), 0.75, 1e-12);
}

TEST(Ema, CopiesUntilItBegins) {
  const EmaOptions options{.decay = 0.9, .update_after_step = 2};
  EXPECT_EQ(kept_share(options, 2), 0);
  EXPECT_EQ(kept_share(options, 3), 0.9);
}

TEST(Ema, LeavesTheParametersAlone) {
  const auto p = parameter("p", {1});
  Ema ema({p}, 0.5);
  ema.update();
  ema.parameters()[0].tensor.fill_(9);
  EXPECT_THAT(values(p.tensor), ElementsAre(1));
}

TEST(Ema, StateCountsUpdatesSoThatAResumedOneDoesNotCopy) {
  const auto p = parameter("p", {1});
  Ema ema({p}, 0.5), resumed({p}, 0.5);
  ema.update();
  const auto saved = ema.state(), live = resumed.state();
  ASSERT_EQ(saved.back().name, "ema_updates");
  for (std::size_t i = 0; i < saved.size(); ++i) live[i].tensor.copy_(saved[i].tensor);
  set(p, 3);
  resumed.update();
  EXPECT_THAT(values(resumed.parameters()[0].tensor), ElementsAre(2));
}

}  // namespace
}  // namespace ddptrain::testing_optim
