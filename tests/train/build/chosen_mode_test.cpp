// parallel.mode: auto, by arithmetic.
#include "train/build/chosen_mode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/nets.h"
#include "recipe/mode.h"
#include "recipe/recipe.h"
#include "support/components.h"
#include "support/ranks.h"
#include "train/build/bounded_training.h"

namespace ddptrain {
namespace {

using namespace test;
using testing::ElementsAre;

Recipe trained_by(const std::string& optimizer) {
  Recipe recipe;
  recipe.parallel.mode = Mode::automatic;
  recipe.optimizer.choose(Node::scalar(optimizer));
  return recipe;
}

/// Two numbers of eight bytes, and a batch norm's two of each.
ModelFactory scaled() {
  return [] { return std::make_unique<Scaled>(); };
}

// Adam has two numbers for each parameter and a count of steps for each of the three tensors, in
// eight bytes (torch has them in fp32: 4).
TEST(StateParts, CountWhatTrainingKeeps) {
  auto recipe = trained_by("adam");
  recipe.train.precision = Precision::fp64;
  auto parts = state_parts(recipe, scaled());
  EXPECT_EQ(parts.weights, 6 * 8);
  EXPECT_EQ(parts.gradients, 6 * 8);
  EXPECT_GE(parts.optimizer, 2 * 6 * 8);
  EXPECT_LE(parts.optimizer, 2 * 6 * 8 + 3 * 8);
  EXPECT_EQ(parts.average, 0);
  EXPECT_EQ(parts.root, 1);  // it has no block

  recipe.train.precision = Precision::fp32;
  recipe.train.ema.emplace();
  parts = state_parts(recipe, scaled());
  EXPECT_EQ(parts.weights, 6 * 4);
  EXPECT_EQ(parts.average, 6 * 4);
}

/// Of 100 bytes each of weights and gradients, 200 of the optimizer's; a quarter of the weights in
/// no block, an eighth in the largest. On 4 ranks that is (docs/sharding.md): ddp 400, zero1 250,
/// zero2 100 + 100 (1/4 + 1/4 + 1/4) + 50 = 225, fsdp 100 (1/4 + 3/16 + 1/4) + 75 + 50 = 193.75.
MemoryParts of_blocks() {
  MemoryParts parts{.weights = 100, .gradients = 100, .optimizer = 200};
  parts.root = 0.25;
  parts.block = 0.125;
  return parts;
}

TEST(ModesWithin, AreThoseThatLeaveATenthFree) {
  const auto parts = of_blocks();
  EXPECT_THAT(modes_within(parts, 4, 400 / 0.9 + 1),
              ElementsAre(Mode::ddp, Mode::zero1, Mode::zero2, Mode::fsdp));
  EXPECT_THAT(modes_within(parts, 4, 400 / 0.9 - 1),
              ElementsAre(Mode::zero1, Mode::zero2, Mode::fsdp));
  EXPECT_THAT(modes_within(parts, 4, 250 / 0.9 - 1), ElementsAre(Mode::zero2, Mode::fsdp));
  EXPECT_THAT(modes_within(parts, 4, 225 / 0.9 - 1), ElementsAre(Mode::fsdp));
}

TEST(ModesWithin, IsTheSmallestWhereNoneLeavesRoom) {
  EXPECT_THAT(modes_within(of_blocks(), 4, 10), ElementsAre(Mode::fsdp));
}

// Without blocks zero2 and fsdp have all weights, and gradients in buckets on top of a part.
TEST(ModesWithin, LeaveOutThoseThatNeedMoreThanOneBefore) {
  const MemoryParts parts{.weights = 100, .gradients = 100, .optimizer = 200};
  EXPECT_THAT(modes_within(parts, 4, 1000), ElementsAre(Mode::ddp, Mode::zero1));
  EXPECT_THAT(modes_within(parts, 4, 10), ElementsAre(Mode::zero1));
}

TEST(ChosenMode, IsNoneForOneRank) {
  auto world = single_world();
  auto t = training(world, 1000);
  auto recipe = trained_by("sgd");
  int built = 0;
  build_engine_that_fits(t, recipe,
                         {scaled(),
                          [&](const Recipe& chosen) {
                            ++built;
                            EXPECT_EQ(chosen.parallel.mode, Mode::none);
                            return make_single_engine(scaled(), {});
                          }},
                         {});
  EXPECT_EQ(recipe.parallel.mode, Mode::none);
  EXPECT_EQ(built, 1);
}

TEST(ChosenMode, OfASmallModelOnTheCpuIsDdp) {
  test::play_all(2, [](World& world) {
    auto t = training(world, 1000);
    auto recipe = trained_by("adam");
    build_engine_that_fits(t, recipe,
                           {scaled(),
                            [&](const Recipe& chosen) {
                              return make_engine(chosen.parallel.mode, scaled(), {}, world);
                            }},
                           {});
    EXPECT_EQ(recipe.parallel.mode, Mode::ddp);
    EXPECT_TRUE(t.engine);
  });
}

// Ranks on the CPU share what their machine has left.
TEST(ChosenMode, MemoryOfARankIsAPartOfTheMachine) {
  std::vector<double> found(2);
  test::play_all(2, [&](World& world) {
    found.at(static_cast<std::size_t>(world.rank)) =
        static_cast<double>(memory_of_ranks(training(world, 1000)).value());
  });
  EXPECT_EQ(found[0], found[1]);
  auto world = single_world();
  const auto alone = static_cast<double>(memory_of_ranks(training(world, 1000)).value());
  EXPECT_NEAR(found[0] / alone, 0.5, 0.1);  // others of the machine take and give some meanwhile
}

}  // namespace
}  // namespace ddptrain
