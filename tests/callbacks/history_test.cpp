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

const std::string kTested =
    "step,valid/loss,test/loss,\"test/acc/a, \"\"b\"\"\"\n2,0.5,,\n4,0.25,0.3,0.75\n6,0.1,,\n";

TEST(History, OfMetricsHasTheTestSplitInTheRowOfItsWeights) {
  const NamedValues scores{{"test/loss", 0.3}, {"test/acc/a, \"b\"", 0.75}};
  const std::string rows = "step,valid/loss\n2,0.5\n4,0.25\n6,0.1\n";
  EXPECT_EQ(with_test_scores(rows, 4, scores), kTested);
  EXPECT_EQ(with_test_scores(kTested, 4, scores), kTested);  // in place of those that are there
  EXPECT_EQ(with_test_scores("step,valid/loss\n2,0.5\n", 4, {{"test/loss", 0.3}}),
            "step,valid/loss,test/loss\n2,0.5,\n4,,0.3\n");
}

TEST(History, OfMetricsHasNoTestSplitWhereARunGoesOn) {
  const auto kept = rows_until(kTested, 4);
  EXPECT_EQ(kept.header, "step,valid/loss");
  EXPECT_EQ(kept.text, "step,valid/loss\n2,0.5\n4,0.25\n");
  EXPECT_EQ(rows_until("step,valid/testing,test_ema/loss\n2,1,3\n", 2).text,
            "step,valid/testing\n2,1\n");
}

TEST(History, OfEventsEndsWithTheStep) {
  const std::string first = R"({"event":"begin","step":0})", later = R"({"event":"step","step":5})";
  EXPECT_EQ(events_until(first + "\n" + later + "\n" + R"({"event":"st)", 4), first + "\n");
}

}  // namespace
}  // namespace ddptrain
