// Which steps are worth a graph.
#include "train/graph/graph_shapes.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

TEST(GraphShapes, CountsEachShapeWhateverComesBetween) {
  GraphShapes shapes;
  EXPECT_EQ(shapes.count({8, 20}), 1);
  EXPECT_EQ(shapes.count({8, 30}), 1);
  EXPECT_EQ(shapes.count({8, 20}), 2);
  EXPECT_EQ(shapes.count({8, 20}), 3);
  EXPECT_EQ(shapes.count({8, 30}), 2);
  shapes.clear();
  EXPECT_EQ(shapes.count({8, 20}), 1);
}

TEST(GraphShapes, ForgetsTheLeastRecentOfManyShapes) {
  GraphShapes shapes;
  for (std::int64_t length = 0; length <= std::int64_t{GraphShapes::kCounted}; ++length)
    shapes.count({length});
  EXPECT_EQ(shapes.count({1}), 2);
  EXPECT_EQ(shapes.count({0}), 1);
}

TEST(GraphShapes, DoublesItsPatienceWithEachGraphThatMadeRoom) {
  GraphShapes shapes;
  EXPECT_EQ(shapes.patience(), 3);
  for (int i = 0; i < 4; ++i) shapes.count({8, 20});
  shapes.lose({8, 20});
  EXPECT_EQ(shapes.patience(), 6);
  EXPECT_EQ(shapes.count({8, 20}), 1);
  for (int i = 0; i < 100; ++i) shapes.lose({8, 20});
  EXPECT_EQ(shapes.patience(), 1 << 20);
}

}  // namespace
}  // namespace ddptrain
