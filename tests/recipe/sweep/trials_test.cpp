#include "recipe/sweep/trials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files/files.h"
#include "recipe/catalogs.h"
#include "recipe/sweep/words.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Words = std::vector<std::string>;

class Trials : public testing::Test {
 protected:
  Loaded load(const std::string& sweep, const Words& words = {}) {
    write_atomically(file_,
                     "model: mlp\ndata: {type: image_folder, root: images}\n"
                     "batch: {global: 8}\noptimizer: {type: sgd, lr: 0.1}\n" +
                         sweep);
    words_ = with_sweep_keys(words);
    return load_recipe({file_}, words_, testing_recipes::catalogs());
  }
  Words problems(const Problems& found) const {
    Words lines;
    for (const auto& problem : found) {
      const auto text = render(problem);
      const auto folder = folder_.path() + "/";
      const auto line = text.substr(0, text.find('\n'));
      lines.push_back(line.starts_with(folder) ? line.substr(folder.size()) : line);
    }
    return lines;
  }
  Words texts(const Loaded& loaded) {
    EXPECT_THAT(problems(loaded.problems), ElementsAre());
    Words lines;
    if (!loaded.problems.empty()) return lines;
    for (const auto& trial : trials_of(loaded, testing_recipes::catalogs()))
      lines.push_back(to_text(trial));
    return lines;
  }
  Words wrong(const Loaded& loaded) {
    return problems(check_trials({file_}, words_, loaded, testing_recipes::catalogs()));
  }

  TemporaryFolder folder_;
  std::string file_ = folder_ / "a.yaml";
  Words words_;
};

TEST_F(Trials, ComeFromTheSectionAndTheCommandLine) {
  const auto loaded = load("sweep: {keys: {optimizer.lr: [1e-4, 1e-3]}}\n", {"batch.global=8,16"});
  EXPECT_THAT(
      texts(loaded),
      ElementsAre("batch.global=8, optimizer.lr=1e-4", "batch.global=8, optimizer.lr=1e-3",
                  "batch.global=16, optimizer.lr=1e-4", "batch.global=16, optimizer.lr=1e-3"));
  EXPECT_THAT(wrong(loaded), ElementsAre());
}

TEST_F(Trials, MayVaryWhatIsInAList) {
  const auto loaded =
      load("callbacks: []\nmetrics: [accuracy, top_k]\n", {"metrics[0]=accuracy,top_k"});
  EXPECT_THAT(texts(loaded), ElementsAre("metrics[0]=accuracy", "metrics[0]=top_k"));
}

TEST_F(Trials, HaveTheRecipeWithoutTheSection) {
  const auto loaded = load("sweep: {keys: {seed: [3]}}\n");
  const auto trials = trials_of(loaded, testing_recipes::catalogs());
  ASSERT_EQ(trials.size(), 1U);
  const auto trial = load_recipe({file_}, trials[0].overrides, testing_recipes::catalogs());
  EXPECT_FALSE(trial.recipe.sweep);
  EXPECT_EQ(trial.recipe.seed, 3);
}

TEST_F(Trials, TakeWholeNumbersWhereTheOptionDoes) {
  for (const auto& text :
       texts(load("sweep: {method: random, trials: 20, keys: {batch.global: {min: 1, max: 9}}}\n")))
    EXPECT_EQ(text.find('.', text.find('=')), std::string::npos) << text;
}

TEST_F(Trials, SayWhatIsWrongOnceAndWhere) {
  EXPECT_THAT(wrong(load("sweep: {keys: {optimzer.lr: [1, 2]}}\n")),
              ElementsAre(HasSubstr("did you mean 'optimizer'")));
  const auto negative =
      wrong(load("sweep:\n  keys:\n    optimizer.lr: [0.1, -1]\n    seed: [1, 2]\n"));
  EXPECT_THAT(negative,
              ElementsAre(testing::AllOf(HasSubstr("a.yaml:7:25: error[bad-value]"),
                                         HasSubstr("(trial 3: optimizer.lr=-1, seed=1)"))));
  EXPECT_THAT(wrong(load("", {"seed=1,x"})),
              ElementsAre(HasSubstr("command line:1: error[bad-value]")));
}

TEST_F(Trials, AnchorPathsAtTheFileThatWroteThem) {
  EXPECT_THAT(texts(load("sweep: {keys: {data.root: [a, b]}}\n")),
              ElementsAre("data.root=" + (folder_ / "a"), "data.root=" + (folder_ / "b")));
}

TEST_F(Trials, AreRefusedAsSweepsBeforeTheyAreMade) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"{keys: {optimizer.lr: {min: 1, max: 0.1}}, method: random, trials: 2}",
       "ends are swapped: min 1 is above max 0.1"},
      {"{keys: {optimizer.lr: {min: 0, max: 1, log: true}}, method: sobol, trials: 2}",
       "begins above 0"},
      {"{keys: {optimizer.lr: {values: [1, 2], log: true}}}", "is for a range"},
      {"{keys: {optimizer.lr: {min: 1}}, method: sobol, trials: 2}", "needs 'max' too"},
      {"{keys: {model: {min: 1, max: 2}}, method: random, trials: 2}", "for numbers"},
      {"{keys: {optimizer.lr: [1, 2]}, trials: 3}", "a trial for each of its 2 points"},
      {"{keys: {sweep.seeds: [1, 2]}}", "does not vary itself"},
      {"{keys: {}}", "no option is varied"},
      {"{keys: {seed: [1, 2]}, seeds: 2}", "varies it already"},
      {"{keys: {optimizer.lr: [1, 2]}, seeds: 600}", "2 points with 600 seeds each"},
      {"{keys: {train.duration: [1 epoch, 2 epochs]}, method: halving}",
       "'train.duration' varies it"},
      {"{keys: {optimizer.lr: [1, 2]}, method: halving, halving: {min: 1 epoch}}",
       "not shorter than the run"},
      {"{keys: {optimizer.lr: [1, 2]}, method: halving, halving: {min: 5 steps}}",
       "cannot be compared"},
      {"{keys: {optimizer.lr: [1, 2]}, metric: test/accuracy}", "'valid/accuracy'"},
  };
  for (const auto& [sweep, message] : cases) {
    const auto found = problems(load("sweep: " + sweep + "\n").problems);
    ASSERT_EQ(found.size(), 1U) << sweep;
    EXPECT_THAT(found[0], HasSubstr(message));
  }
}

}  // namespace
}  // namespace ddptrain
