// Bad samples that are left out: what is trained, and how many may be, does not depend on how a
// batch is cut, nor on a resume.
#include "data/loader/bad_samples.h"

#include <ATen/ops/equal.h>
#include <gmock/gmock.h>

#include "base/error.h"
#include "distributed/compare.h"
#include "optim/groups.h"
#include "train/loop/loop.h"
#include "train/loop/state.h"
#include "train/small_training.h"

namespace ddptrain {
namespace {

using namespace test;
using testing::HasSubstr;

/// The first, a middle and the last of the first batch, one of the second, the last of all.
const std::set<std::int64_t> kBad{0, 3, 7, 12, 22};

struct Trained {
  Tensors weights;
  NamedValues evaluation;
};

Trained trained(World& world, const SmallRun& run) {
  auto t = small_training(world, run);
  train(t);
  Trained result{{}, t.state.evaluation};
  for (const auto& [name, tensor] : t.engine->model().named_parameters())
    result.weights.push_back(tensor.detach().clone());
  return result;
}

Trained by_none(const SmallRun& run) {
  auto world = single_world();
  return trained(world, run);
}

void expect_equal(const Trained& actual, const Trained& expected) {
  expect_same(actual.weights, expected.weights);
  ASSERT_EQ(actual.evaluation.size(), expected.evaluation.size());
  for (std::size_t i = 0; i < expected.evaluation.size(); ++i)
    EXPECT_NEAR(actual.evaluation[i].second, expected.evaluation[i].second, 1e-12);
}

void expect_the_same_under_every_engine(SmallRun run) {
  run.bad = kBad;
  const auto expected = by_none(run);
  run.mode = Mode::dp;
  run.replicas = 2;
  expect_equal(by_none(run), expected);
  run.mode = Mode::ddp;
  run.replicas = 1;
  for (const int ranks : {1, 2, 3})
    play_all(ranks, [&](World& world) { expect_equal(trained(world, run), expected); });
}

TEST(BadSamples, LeaveDropoutOfTheOthersAloneUnderEveryEngine) {
  expect_the_same_under_every_engine({});
}

TEST(BadSamples, LeaveMixedRowsAloneUnderEveryEngine) {
  expect_the_same_under_every_engine({.mixes = true});
}

TEST(BadSamples, LeaveMicroBatchesAloneUnderEveryEngine) {
  SmallRun run;
  run.accumulate = 2;
  expect_the_same_under_every_engine(run);
}

TEST(BadSamples, LeaveSyncBatchNormAloneUnderEveryEngine) {
  expect_the_same_under_every_engine({.norm = true});
}

TEST(BadSamples, AreCountedOverAnEpochAndAllRanks) {
  SmallRun run;
  run.bad = kBad;
  run.bad_share = 4.5 / 23;
  const std::string message =
      "5 of 23 training samples of epoch 1 could not be read, more than "
      "policy.bad_samples allows";
  auto alone = play(
      [] {
        std::vector<World> worlds;
        worlds.push_back(single_world());
        return worlds;
      }(),
      [&](World& world) { trained(world, run); });
  EXPECT_THAT(message_of(alone.front()), HasSubstr(message));
  run.mode = Mode::ddp;
  for (const int ranks : {2, 3})
    for (const auto& thrown :
         play(make_thread_worlds(ranks), [&](World& world) { trained(world, run); }))
      EXPECT_THAT(message_of(thrown), HasSubstr(message)) << ranks;
}

TEST(BadSamples, OfTheValidationSplitAreCountedOverAllRanks) {
  SmallRun run;
  run.bad = kBad;
  run.samples = 23;
  run.mode = Mode::ddp;
  for (const int ranks : {1, 2, 3})
    for (const auto& thrown : play(make_thread_worlds(ranks), [&](World& world) {
           auto t = small_training(world, run);
           t.recipe.policy.bad_samples.value = 4.5 / 23;
           t.length.total = 2;  // before the fifth bad training sample
           train(t);
         }))
      EXPECT_THAT(message_of(thrown), HasSubstr("5 of 23 validation samples could not be read"));
}

/// Trains `steps` steps in all, from a checkpoint where there is one.
Checkpoint after(std::int64_t steps, const SmallRun& run, const Checkpoint* from = nullptr) {
  auto world = single_world();
  auto t = small_training(world, run);
  if (from) restore(t, *from);
  t.length.total = steps;
  Hooks hooks;
  hooks.evaluate = false;
  train(t, hooks);
  return capture(t);
}

TEST(BadSamples, AreTheSameToTheLastBitInARunThatIsResumed) {
  SmallRun run;
  run.bad = kBad;
  const auto whole = after(6, run);
  const auto half = after(4, run);  // in the second epoch, behind three bad samples
  const auto resumed = after(6, run, &half);
  EXPECT_EQ(resumed.state, whole.state);
  for (std::size_t i = 0; i < whole.model.size(); ++i)
    EXPECT_TRUE(at::equal(resumed.model[i].tensor, whole.model[i].tensor)) << whole.model[i].name;
}

TEST(BadSamples, OfAnEpochAreCountedAcrossAResume) {
  SmallRun run;
  run.bad = kBad;
  const auto half = after(4, run);
  run.bad_share = 4.5 / 23;
  try {
    after(6, run, &half);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_THAT(error.what(), HasSubstr("5 of 23 training samples of epoch 2"));
  }
}

TEST(BadSamples, OneIsAlwaysAllowed) {
  PolicySpec policy;
  policy.bad_samples.value = 0.01;
  EXPECT_NO_THROW(require_few_bad(policy, 1, 20, "samples"));
  EXPECT_NO_THROW(require_few_bad(policy, 3, 300, "samples"));
  EXPECT_THROW(require_few_bad(policy, 2, 20, "samples"), Error);
}

}  // namespace
}  // namespace ddptrain
