#include "runs/metrics_csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;

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

const std::string kFourRows =
    "step,epoch,samples,train/loss,train/lr,valid/loss,valid/accuracy\n"
    "10,1,160,1,0.1,0.9,0.5\n"
    "20,2,320,1,0.1,nan,0.75\n"
    "30,3,480,1,0.1,0.5,0.75\n"
    "40,4,640,1,0.1,0.7,0.6\n";

TEST(BestEvaluation, IsTheFirstOfEqualOnes) {
  const TemporaryFolder folder;
  EXPECT_FALSE(best_evaluation(folder.path(), {"valid/accuracy", BestMode::max}));
  folder.write("metrics.csv", kFourRows);
  const auto best = best_evaluation(folder.path(), {"valid/accuracy", BestMode::max});
  ASSERT_TRUE(best);
  EXPECT_EQ(best->step, 20);
  EXPECT_EQ(best->values.at(1), std::pair(std::string("valid/accuracy"), 0.75));
}

TEST(BestEvaluation, HasTheScoresOfAllSplits) {
  const TemporaryFolder folder;
  folder.write("metrics.csv",
               "step,train/loss,valid/loss,sketch/loss\n10,1,0.5,0.4\n20,1,0.4,0.6\n");
  const auto best = best_evaluation(folder.path(), {"sketch/loss", BestMode::min});
  ASSERT_TRUE(best);
  EXPECT_EQ(best->step, 10);
  EXPECT_THAT(best->values, ElementsAre(std::pair(std::string("valid/loss"), 0.5),
                                        std::pair(std::string("sketch/loss"), 0.4)));
}

TEST(BestEvaluation, IsNeverNotANumber) {
  const TemporaryFolder folder;
  folder.write("metrics.csv", kFourRows);
  EXPECT_EQ(best_evaluation(folder.path(), {"valid/loss", BestMode::min})->step, 30);
  EXPECT_FALSE(best_evaluation(folder.path(), {"valid/f1", BestMode::max}));
}

TEST(BestEvaluation, LeavesOutTheTestSplitAndRowsThatAreTorn) {
  const TemporaryFolder folder;
  folder.write(
      "metrics.csv",
      "step,valid/loss,\"valid/f1/a, b\",test/loss\n10,0.5,0.25,\n20,0.4\n30,0.45,0.5,0.1\n"
      "40,0.3,0");
  const auto best = best_evaluation(folder.path(), {"valid/loss", BestMode::min});
  ASSERT_TRUE(best);
  EXPECT_EQ(best->step, 30);
  EXPECT_EQ(best->values, (NamedValues{{"valid/loss", 0.45}, {"valid/f1/a, b", 0.5}}));
}

TEST(BestEvaluation, InMemoryIsThatOfTheFile) {
  const NamedValues columns{{"step", 10}, {"train/loss", 1}, {"valid/loss", 0.1}, {"valid/f1", 1}};
  const auto text = metrics_header(columns) + "\n" + metrics_row(columns) + "\n";
  EXPECT_EQ(text, "step,train/loss,valid/loss,valid/f1\n10,1,0.1,1\n");
  const auto rows = metrics_rows(text);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].step, 10);
  EXPECT_EQ(rows[0].scores, (NamedValues{{"valid/loss", 0.1}, {"valid/f1", 1}}));
  BestEvaluationSoFar best({"valid/loss", BestMode::min});
  best.add(rows[0].step, rows[0].scores);
  best.add(20, {{"valid/loss", std::nan("")}});
  best.add(30, {{"valid/loss", 0.1}});
  EXPECT_EQ(best.value()->step, 10);
  best.clear();
  EXPECT_FALSE(best.value());
}

}  // namespace
}  // namespace ddptrain
