// Which part of a step is named, and the key that moves it on that machine and recipe.
#include "jobs/bench/bottleneck.h"

#include <gmock/gmock.h>

namespace ddptrain {
namespace {

using testing::HasSubstr;

/// A hundredth of a second a step on four cores, all of it in one phase.
StepTimes all_in(Phase phase) {
  StepTimes times;
  times.cores = 4;
  times.threads = 4;
  times.workers = 4;
  times.global = 64;
  times.arithmetic = "fp32";
  times.step = 0.01;
  times.phases[static_cast<std::size_t>(phase)] = 0.01;
  times.limits = {1e12, 1e10};
  times.flops = 5e9;
  return times;
}

TEST(LimitOfAStep, IsALoaderWithFewThreads) {
  auto times = all_in(Phase::loader);
  times.workers = 1;
  times.loader_alone = 0.01;
  const auto limit = bottleneck(times);
  EXPECT_EQ(limit.part, "loader");
  EXPECT_EQ(limit.override, "data.loader.workers=4");
  EXPECT_EQ(limit.sentence,
            "the loader limits: a step waits for its batch for 100 % of its time; more loading "
            "threads help");
}

TEST(LimitOfAStep, IsALoaderThatDecodesExactly) {
  auto times = all_in(Phase::loader);
  times.loader_alone = 0.01;
  EXPECT_EQ(bottleneck(times).override, "");
  times.decodes_exactly = true;
  EXPECT_EQ(bottleneck(times).override, "data.decode=fast");
}

TEST(LimitOfAStep, IsALoaderThatKeepsUpButNotAlways) {
  auto times = all_in(Phase::loader);
  times.step = 0.03;
  times.loader_alone = 0.015;
  EXPECT_EQ(bottleneck(times).override, "data.loader.prefetch=16");
}

TEST(LimitOfAStep, IsTheCommunicationOfGradients) {
  auto times = all_in(Phase::communication);
  times.ranks = times.devices = 2;
  EXPECT_EQ(bottleneck(times).override, "parallel.ddp.comm.dtype=bf16");
  times.rounds_gradients = true;
  EXPECT_EQ(bottleneck(times).override, "batch.global=128");
}

TEST(LimitOfAStep, IsArithmeticWithIdleCores) {
  auto times = all_in(Phase::forward);
  times.threads = 2;
  const auto limit = bottleneck(times);
  EXPECT_EQ(limit.part, "compute");
  EXPECT_EQ(limit.override, "train.threads=4");
  EXPECT_THAT(limit.sentence, HasSubstr("50 % of what a matrix product reaches"));
}

TEST(LimitOfAStep, IsArithmeticOfADeviceWithFasterTypes) {
  auto times = all_in(Phase::backward);
  times.on_cpu = false;
  times.has_bf16 = true;
  EXPECT_EQ(bottleneck(times).override, "train.precision=bf16");
  times.arithmetic = "bf16";
  EXPECT_EQ(bottleneck(times).override, "parallel.devices=2");
  times.flops = 1e9;  // a tenth of the limit
  EXPECT_EQ(bottleneck(times).override, "batch.global=128");
}

TEST(LimitOfAStep, IsWhatEachStepCostsOnce) {
  EXPECT_EQ(bottleneck(all_in(Phase::optimizer)).override, "batch.global=128");
  auto times = all_in(Phase::optimizer);
  times.phases = {};
  times.phases[kPhases] = 0.01;
  EXPECT_EQ(bottleneck(times).part, "other");
  EXPECT_EQ(bottleneck(times).override, "batch.global=128");
}

}  // namespace
}  // namespace ddptrain
