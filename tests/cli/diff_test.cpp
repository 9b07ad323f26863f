// `diff A B`: one line a key, and diff's exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/cli_output.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using test::cli_output;
using testing::HasSubstr;
using testing::Not;

class Diff : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("a.yaml",
                  "recipe: 1\n"
                  "model: {type: mlp}\n"
                  "data: {type: mnist, root: digits}\n"
                  "metrics: [accuracy, {type: top_k, k: 3}]\n"
                  "optimizer: {type: sgd, lr: 1e-2}\n"
                  "batch: {global: 64}\n");
  }
  std::string b(const std::string& more) {
    folder_.write("b.yaml", "extends: a.yaml\n" + more);
    const auto answer = cli_output({"diff", "a.yaml", "b.yaml"});
    EXPECT_EQ(answer.code, answer.out.empty() ? 0 : 1) << answer.err;
    return answer.out;
  }
  TemporaryFolder folder_;
  test::Inside inside_{folder_.path()};
};

TEST_F(Diff, EqualMeaningIsNoDifference) {
  EXPECT_EQ(b(""), "");
  EXPECT_EQ(b("optimizer: {lr: 0.01}\ntrain: {duration: 1epochs}\n"), "");
  EXPECT_EQ(b("output: {dir: runs}\n"), "");
}

TEST_F(Diff, ALineForEachKeyWithBothPlaces) {
  EXPECT_EQ(b("optimizer: {lr: 0.5}\nseed: 1\n"),
            "seed: 42 (default) -> 1 (b.yaml:3)\n"
            "optimizer.lr: 0.01 (a.yaml:5) -> 0.5 (b.yaml:2)\n");
}

TEST_F(Diff, ItemsOfListsAreFoundByTheirType) {
  EXPECT_EQ(b("metrics: [f1, {type: top_k, k: 2}, accuracy]\n"),
            "metrics[top_k].k: 3 (a.yaml:4) -> 2 (b.yaml:2)\n"
            "metrics[f1]: none -> {type: f1} (b.yaml:2)\n"
            "metrics: order accuracy, top_k -> top_k, accuracy\n");
}

TEST_F(Diff, AnotherComponentShowsWhatWasWritten) {
  EXPECT_EQ(b("optimizer: {type: adam, eps: 1e-3}\n"),
            "optimizer.type: sgd (a.yaml:5) -> adam (b.yaml:2)\n"
            "optimizer.lr: 0.01 (a.yaml:5) -> 0.001 (default)\n"
            "optimizer.eps: none -> 0.001 (b.yaml:2)\n");
  const auto full = cli_output({"diff", "--full", "a.yaml", "b.yaml"}).out;
  EXPECT_THAT(full, HasSubstr("optimizer.momentum: 0 (default) -> none\n"));
  EXPECT_THAT(full, HasSubstr("optimizer.betas: none -> [0.9, 0.999] (default)\n"));
  EXPECT_THAT(full, Not(HasSubstr("seed")));
}

TEST_F(Diff, OverridesChangeTheSecond) {
  const auto answer = cli_output({"diff", "a.yaml", "a.yaml", "batch.global=8"});
  EXPECT_EQ(answer.out, "batch.global: 64 (a.yaml:6) -> 8 (override batch.global=8)\n");
  EXPECT_EQ(answer.code, 1);
}

TEST_F(Diff, ARunFolderStandsForItsRecipe) {
  folder_.write("runs/x/001/recipe.yaml", "extends: ../../../a.yaml\nseed: 3\n");
  const auto answer = cli_output({"diff", "runs/x/001", "a.yaml"});
  EXPECT_EQ(answer.out, "seed: 3 (runs/x/001/recipe.yaml:2) -> 42 (default)\n");
  const auto none = cli_output({"diff", "runs", "a.yaml"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("'runs' is not a run folder: it has no recipe.yaml; "));
}

TEST_F(Diff, TakesTwoGoodRecipes) {
  EXPECT_EQ(cli_output({"diff", "a.yaml", "seed=1"}).code, 2);
  folder_.write("bad.yaml", "extends: a.yaml\nsed: 3\n");
  const auto answer = cli_output({"diff", "a.yaml", "bad.yaml"});
  EXPECT_EQ(answer.code, 2);
  EXPECT_THAT(answer.err, HasSubstr("did you mean 'seed'?"));
}

}  // namespace
}  // namespace ddptrain
