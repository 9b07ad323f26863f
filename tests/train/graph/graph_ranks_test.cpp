// What ranks agree on before a step is captured or replayed.
#include "train/graph/graph_ranks.h"

#include <gtest/gtest.h>

#include <array>

#include "support/ranks.h"

namespace ddptrain {
namespace {

using Shape = GraphShapes::Shape;
using Shapes = std::array<std::optional<Shape>, 3>;

/// The joint step of three ranks, which all have to know alike. `changed`: the rank whose model is
/// another one; -1: none.
JointStep joint_of(const Shapes& shapes, int changed = -1) {
  std::array<JointStep, 3> known;
  test::play(make_thread_worlds(3), [&](World& world) {
    const auto rank = static_cast<std::size_t>(world.rank);
    known[rank] = GraphRanks(world).joint(shapes[rank], world.rank == changed);
  });
  for (const auto& step : known) {
    EXPECT_EQ(step.shape, known[0].shape);
    EXPECT_EQ(step.is_of_another_model, known[0].is_of_another_model);
  }
  return known[0];
}

TEST(GraphRanks, KnowOneShapeThatFollowsThoseOfAll) {
  const auto shape = joint_of({Shape{1, 2}, Shape{3}, Shape{3}}).shape;
  ASSERT_TRUE(shape);
  EXPECT_EQ(joint_of({Shape{1, 2}, Shape{3}, Shape{3}}).shape, shape);
  EXPECT_NE(joint_of({Shape{1, 2}, Shape{3}, Shape{4}}).shape, shape);
  EXPECT_NE(joint_of({Shape{3}, Shape{1, 2}, Shape{3}}).shape, shape);
  EXPECT_NE(joint_of({Shape{2, 1}, Shape{3}, Shape{3}}).shape, shape);
}

TEST(GraphRanks, CaptureNothingWhereOneRankCannot) {
  EXPECT_FALSE(joint_of({Shape{1}, std::nullopt, Shape{1}}).shape);
}

TEST(GraphRanks, AllKnowThatOneHasAnotherModel) {
  EXPECT_FALSE(joint_of({Shape{1}, Shape{1}, Shape{1}}).is_of_another_model);
  EXPECT_TRUE(joint_of({Shape{1}, Shape{1}, Shape{1}}, 2).is_of_another_model);
  EXPECT_TRUE(joint_of({Shape{1}, std::nullopt, Shape{1}}, 0).is_of_another_model);
}

TEST(GraphRanks, KnowWhetherItIsSoOnAny) {
  for (const int which : {-1, 0, 1, 2})
    test::play(make_thread_worlds(3), [&](World& world) {
      EXPECT_EQ(GraphRanks(world).any(world.rank == which), which >= 0);
    });
}

TEST(GraphRanks, OfOneKeepItsShape) {
  const auto world = single_world();
  const auto step = GraphRanks(world).joint(Shape{7, 8}, true);
  EXPECT_EQ(step.shape, (Shape{7, 8}));
  EXPECT_TRUE(step.is_of_another_model);
  EXPECT_FALSE(GraphRanks(world).any(false));
}

}  // namespace
}  // namespace ddptrain
