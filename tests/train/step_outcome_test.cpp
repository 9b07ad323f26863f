// What becomes of a step that has nothing to learn from, or too much.
#include <ATen/ops/full_like.h>
#include <gmock/gmock.h>

#include <limits>

#include "base/error.h"
#include "train/fake_training.h"
#include "train/step/step.h"

namespace ddptrain {
namespace {

using namespace test;

/// A step of one micro-batch after which the engine has these totals, and gradients of 1.
class StepOutcome : public testing::Test {
 protected:
  StepOutcome() : world_(single_world()), t_(fake_training(world_)) {
    weight_ = t_.engine->model().named_parameters().front().tensor;
    weight_.mutable_grad() = at::full_like(weight_, 1);
    EpochPlan plan;
    for (int i = 0; i < 8; ++i) plan.micros.push_back({{0, 1, 2, 3}});
    t_.loader->start(std::move(plan));
  }
  StepReport step(const StepTotals& totals) {
    engine_of(t_).totals = totals;
    return make_step(t_, t_.state, 1);
  }
  double weight() const { return weight_.item<double>(); }

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const StepTotals not_finite_{kInfinity, 4, false, 0};

  World world_;
  SmallTraining t_;
  at::Tensor weight_;
};

// 1 - 0.1 * 1 * nominal / weight; the nominal is length.global = 4 until a step was made.
TEST_F(StepOutcome, IsAStepOfTheMean) {
  const auto report = step({6, 4, true, 0});
  EXPECT_TRUE(report.changed());
  EXPECT_EQ(report.loss(), 1.5);
  EXPECT_EQ(report.lr, 0.1);
  EXPECT_DOUBLE_EQ(weight(), 0.9);
  EXPECT_EQ(t_.state.nominal, 4);
}

TEST_F(StepOutcome, IsScaledByTheFirstStepsWeight) {
  t_.state.nominal = 8;
  step({6, 4, true, 0});
  EXPECT_DOUBLE_EQ(weight(), 1 - 0.1 * 8 / 4);
  EXPECT_EQ(engine_of(t_).micros.back().nominal, 8);
  EXPECT_EQ(t_.state.nominal, 8);
}

TEST_F(StepOutcome, StopsTheRunWhereItIsNotFinite) {
  t_.state.position.step = 6;
  try {
    step(not_finite_);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::non_finite);
    EXPECT_STREQ(error.what(),
                 "the loss is not finite at step 7 (sum inf); a smaller optimizer.lr or train.clip "
                 "may help; 'policy.on_non_finite: skip' leaves such steps out");
  }
  EXPECT_EQ(weight(), 1);
}

TEST_F(StepOutcome, IsSkippedAndCountedWhereThePolicySaysSo) {
  t_.recipe.policy.on_non_finite = OnNonFinite::skip;
  EXPECT_FALSE(step(not_finite_).changed());
  EXPECT_EQ(t_.state.position.skipped_steps, 1);
  EXPECT_EQ(t_.state.nominal, 0);
  EXPECT_EQ(weight(), 1);
}

// In half precision that is how the scale is found.
TEST_F(StepOutcome, HalvesTheLossScaleInsteadOfStopping) {
  t_.state.loss_scale.emplace();
  EXPECT_FALSE(step(not_finite_).changed());
  EXPECT_EQ(t_.state.loss_scale->scale(), 32768);
  EXPECT_EQ(t_.state.position.skipped_steps, 1);
  EXPECT_EQ(weight(), 1);
  step({6, 4, true, 0});  // gradients of 1 are those of a loss 32768 times as large
  EXPECT_EQ(engine_of(t_).micros.back().loss_scale, 32768);
  EXPECT_DOUBLE_EQ(weight(), 1 - 0.1 / 32768);
}

TEST_F(StepOutcome, ChangesNothingWithoutACountedSample) {
  const auto report = step({0, 0, true, 0});
  EXPECT_FALSE(report.changed());
  EXPECT_TRUE(std::isnan(report.loss()));
  EXPECT_EQ(t_.state.position.empty_steps, 1);
  EXPECT_EQ(weight(), 1);
}

TEST_F(StepOutcome, CountsBadSamplesOfTheEpoch) {
  t_.recipe.policy.bad_samples.value = 0.25;
  t_.state.position.bad_in_epoch = 1;
  step({6, 2, true, 2});
  EXPECT_EQ(t_.state.position.bad_in_epoch, 3);
  try {
    step({6, 2, true, 1});
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_STREQ(error.what(),
                 "4 of 12 training samples of epoch 1 could not be read, more than "
                 "policy.bad_samples allows (25 %)");
  }
}

}  // namespace
}  // namespace ddptrain
