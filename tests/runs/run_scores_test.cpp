#include "runs/run_scores.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

/// Evaluated at steps 20, the best, and 40, the last; the test split has the best weights.
RunRecord ended() {
  RunRecord run;
  run.status = RunStatus::done;
  run.result = "done";
  run.metrics = {{"valid/loss", 0.7}, {"valid/f1", 0.6}, {"test/f1", 0.65}};
  run.evaluated = 40;
  run.best = {"valid/f1", BestMode::max, 20, {{"valid/loss", 0.5}, {"valid/f1", 0.75}}};
  return run;
}

RunScores scores(RunRecord run, const std::string& recipe) {
  run.options = *RecipeReader().options(recipe);
  return scores_of(run);
}

const char* const kKeeps = "checkpoint: {keep_best: {metric: f1, mode: max}}\n";

TEST(RunScores, AreOfTheBestWeightsWhereTheyAreKept) {
  const auto [weights, values] = scores(ended(), kKeeps);
  EXPECT_EQ(to_text(weights), "best weights, step 20");
  EXPECT_EQ(values, (NamedValues{{"valid/loss", 0.5}, {"valid/f1", 0.75}, {"test/f1", 0.65}}));
}

TEST(RunScores, AreOfTheLastWeightsElse) {
  for (const auto* recipe : {"checkpoint: {keep_best: null}\n", "seed: 1\n"}) {
    const auto [weights, values] = scores(ended(), recipe);
    EXPECT_EQ(to_text(weights), "last weights, step 40");
    EXPECT_EQ(values, ended().metrics);
  }
}

TEST(RunScores, NameBothWhereTheLastIsTheBest) {
  auto run = ended();
  run.best->step = 40;
  EXPECT_EQ(to_text(scores(run, kKeeps).weights), "best and last weights, step 40");
}

TEST(RunScores, OfARunThatIsNotDoneAreOfItsLastEvaluation) {
  auto run = ended();
  run.status = RunStatus::interrupted;
  run.result = "interrupted";
  EXPECT_EQ(to_text(scores(run, "seed: 1\n").weights), "last evaluation, step 40");
  EXPECT_EQ(scores(RunRecord(), "seed: 1\n").weights.name, "");
}

}  // namespace
}  // namespace ddptrain
