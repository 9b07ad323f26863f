// What the search for a learning rate runs, and when it ends.
#include "train/run/lr_finder.h"

#include <gmock/gmock.h>

#include <limits>

#include "base/error.h"
#include "train/fake_training.h"

namespace ddptrain {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::SizeIs;

TEST(LrFinder, RefusesRatesThatDoNotGrow) {
  for (const LrFindOptions options :
       {LrFindOptions{.start = 0}, LrFindOptions{.start = 1, .end = 1},
        LrFindOptions{.end = std::numeric_limits<double>::infinity()}})
    try {
      lr_find_recipe({}, options);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Exit::recipe);
      EXPECT_STREQ(error.what(), "rates grow from --start to --end: 0 < start < end");
    }
}

TEST(LrFinder, RunsOneStageWithoutWhatOnlyARealRunNeeds) {
  Recipe recipe;
  recipe.train.ema.emplace();
  recipe.checkpoint.keep_best.emplace();
  recipe.callbacks.push_back(fragment<Callback>("early_stopping"));
  recipe.train.fine_tune.emplace();
  const auto found = lr_find_recipe(recipe, {.steps = 30});
  EXPECT_EQ(found.train.duration.count, 30);
  EXPECT_EQ(found.train.freeze.freeze_to, -1);  // what fine_tune trains first
  EXPECT_FALSE(found.train.ema || found.train.fine_tune || found.checkpoint.keep_best);
  EXPECT_TRUE(found.callbacks.empty());
}

TEST(LrFinder, KeepsTheCurveAndNothingElse) {
  auto world = single_world();
  auto t = fake_training(world);
  const auto found = find_lr(t, {.steps = 6}, {});
  EXPECT_EQ(found.reason, "done");
  EXPECT_THAT(found.curve.rates, ElementsAre(0.1, 0.1, 0.1, 0.1, 0.1, 0.1));  // of the stage
  EXPECT_THAT(found.losses, ElementsAre(0.25, 0.25, 0.25, 0.25, 0.25, 0.25));
}

/// Whose loss is ten times as large at every step.
class Diverging final : public Loader {
 public:
  Diverging(std::unique_ptr<Loader> loader, FakeEngine& engine)
      : loader_(std::move(loader)), engine_(engine) {}
  void start(EpochPlan plan) override { loader_->start(std::move(plan)); }
  Batch next() override {
    engine_.totals.loss_sum *= 10;
    return loader_->next();
  }

 private:
  std::unique_ptr<Loader> loader_;
  FakeEngine& engine_;
};

// The smoothed loss (0.98) of 2.5, 25 is 2.5, 13.86..., more than four times the best.
TEST(LrFinder, EndsWhereTheLossDiverges) {
  auto world = single_world();
  auto t = fake_training(world);
  t.loader = std::make_unique<Diverging>(std::move(t.loader), engine_of(t));
  const auto found = find_lr(t, {.steps = 6}, {});
  EXPECT_EQ(found.reason, "stopped: the smoothed loss is above four times its best");
  EXPECT_THAT(found.losses, SizeIs(2));
}

TEST(LrFinder, EndsWhereTheLossIsNotANumber) {
  auto world = single_world();
  auto t = fake_training(world);
  t.recipe = lr_find_recipe(t.recipe, {.steps = 6});
  engine_of(t).totals.loss_sum = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(find_lr(t, {.steps = 6}, {}).reason, "stopped: the loss is not a number any more");
}

}  // namespace
}  // namespace ddptrain
