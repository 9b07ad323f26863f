#include "train/state.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

TEST(FittedState, IsWhatTheDatasetGave) {
  Checkpoint checkpoint;
  checkpoint.state = R"({"classes": ["neg"], "fitted": {"words": ["xxunk", "é"], "mean": 0.1}})";
  EXPECT_EQ(fitted_state(checkpoint), R"({"words":["xxunk","é"],"mean":0.1})");
}

TEST(FittedState, IsEmptyWhereNothingWasFitted) {
  Checkpoint checkpoint;
  checkpoint.state = R"({"classes": ["neg"]})";
  EXPECT_EQ(fitted_state(checkpoint), "");
}

}  // namespace
}  // namespace ddptrain
