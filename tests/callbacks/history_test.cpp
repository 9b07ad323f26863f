#include "callbacks/writers.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

TEST(History, OfMetricsEndsWithTheStep) {
  const auto kept = rows_until("step,loss\n2,0.5\n4,0.25\n6,0.1\n", 4);
  EXPECT_EQ(kept.header, "step,loss");
  EXPECT_EQ(kept.text, "step,loss\n2,0.5\n4,0.25\n");
  EXPECT_TRUE(kept.shorter);
}

TEST(History, OfMetricsIsNoShorterForALineThatACrashCut) {
  const auto kept = rows_until("step,loss\n2,0.5\n4,0.", 4);
  EXPECT_EQ(kept.text, "step,loss\n2,0.5\n");
  EXPECT_FALSE(kept.shorter);
}

TEST(History, OfEventsEndsWithTheStep) {
  const std::string first = R"({"event":"begin","step":0})", later = R"({"event":"step","step":5})";
  EXPECT_EQ(events_until(first + "\n" + later + "\n" + R"({"event":"st)", 4), first + "\n");
}

}  // namespace
}  // namespace ddptrain
