// Early stopping and lower rates: what they watch, and what survives a resume.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "callbacks/best.h"
#include "callbacks/callback.h"
#include "support/node.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::ThrowsMessage;

std::unique_ptr<Callback> build(const json& recipe) {
  return catalog<Callback>().build(fragment<Callback>(recipe));
}

void evaluate(Callback& callback, RunControl& control, double loss) {
  RunView run;
  run.lr = control.lr_factor;
  run.metrics = {{"valid/loss", loss}};
  callback.at(Moment::evaluated, run, control);
}

TEST(EarlyStopping, StopsAfterItsPatienceAndSaysWhy) {
  const auto callback = build({{"type", "early_stopping"}, {"patience", 2}});
  RunControl control;
  for (const double loss : {1.0, 0.5, 0.6}) evaluate(*callback, control, loss);
  EXPECT_FALSE(control.stop);
  evaluate(*callback, control, 0.5);
  EXPECT_EQ(control.stop, "no better loss in 2 evaluations");
}

TEST(EarlyStopping, GoesOnCountingAfterAResume) {
  const json recipe{{"type", "early_stopping"}, {"patience", 2}};
  RunControl control;
  const auto before = build(recipe);
  for (const double loss : {0.5, 0.6}) evaluate(*before, control, loss);
  const auto after = build(recipe);
  after->load(before->state());
  evaluate(*after, control, 0.55);
  EXPECT_TRUE(control.stop);
}

TEST(EarlyStopping, TakesALossThatIsNotANumberAsNoBetter) {
  const auto callback = build({{"type", "early_stopping"}, {"patience", 1}});
  RunControl control;
  evaluate(*callback, control, std::nan(""));
  EXPECT_TRUE(control.stop);
}

TEST(EarlyStopping, NamesTheMetricsThatThereAre) {
  const auto callback = build({{"type", "early_stopping"}, {"metric", "f1"}});
  RunControl control;
  EXPECT_THAT([&] { evaluate(*callback, control, 1); },
              ThrowsMessage<Error>("callbacks[early_stopping].metric: 'f1' is not among what was "
                                   "evaluated: 'valid/loss'"));
}

TEST(ReduceLrOnPlateau, LowersTheRateAndKeepsItsFloor) {
  const auto callback =
      build({{"type", "reduce_lr_on_plateau"}, {"patience", 0}, {"factor", 0.1}, {"min_lr", 0.05}});
  RunControl control;
  evaluate(*callback, control, 1);
  EXPECT_EQ(control.lr_factor, 1);
  evaluate(*callback, control, 1);
  EXPECT_DOUBLE_EQ(control.lr_factor, 0.1);
  evaluate(*callback, control, 1);
  EXPECT_DOUBLE_EQ(control.lr_factor, 0.05);
}

TEST(ReduceLrOnPlateau, GoesOnCountingAfterAResume) {
  const json recipe{{"type", "reduce_lr_on_plateau"}, {"patience", 1}};
  RunControl control;
  const auto before = build(recipe);
  for (const double loss : {0.5, 0.6}) evaluate(*before, control, loss);
  const auto after = build(recipe);
  after->load(before->state());
  evaluate(*after, control, 0.55);
  EXPECT_DOUBLE_EQ(control.lr_factor, 0.1);
}

TEST(Mode, FollowsTheNameWhereNoneIsSaid) {
  EXPECT_EQ(resolve({}, "loss"), BestMode::min);
  EXPECT_EQ(resolve({}, "error_rate"), BestMode::min);
  EXPECT_EQ(resolve({}, "accuracy"), BestMode::max);
  EXPECT_EQ(resolve(BestMode::max, "loss"), BestMode::max);
}

}  // namespace
}  // namespace ddptrain
