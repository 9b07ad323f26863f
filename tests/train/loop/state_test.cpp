#include "train/loop/state.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

TEST(SavedData, IsWhatTheDatasetGave) {
  Checkpoint checkpoint;
  checkpoint.state = R"({"classes": ["neg"], "fitted": {"words": ["xxunk", "é"], "mean": 0.1}})";
  EXPECT_EQ(saved_data(checkpoint).fitted, R"({"words":["xxunk","é"],"mean":0.1})");
}

TEST(SavedData, IsEmptyWhereNothingWasFitted) {
  Checkpoint checkpoint;
  checkpoint.state = R"({"classes": ["neg"]})";
  EXPECT_EQ(saved_data(checkpoint).fitted, "");
}

TEST(SavedData, HasTheClassesInOrderOfTheOutputs) {
  Checkpoint checkpoint;
  checkpoint.state = R"({"classes": ["neg", "a", "pos"]})";
  EXPECT_EQ(saved_data(checkpoint).classes, (std::vector<std::string>{"neg", "a", "pos"}));
}

}  // namespace
}  // namespace ddptrain
