// `run` from a recipe to a run folder, in every mode.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

std::string last_line(const std::string& text) {
  std::istringstream lines(text);
  std::string last;
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) last = line;
  return last;
}

class RunInMode : public testing::TestWithParam<std::string> {};

TEST_P(RunInMode, LeavesACompleteRunFolder) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const auto ended =
      run({"run", "small.yaml", GetParam(),
           "parallel.devices=" + std::string(GetParam() == "parallel.mode=none" ? "1" : "2")},
          folder.path(), environment());
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto home = folder / "runs/small/001/";
  for (const auto* name :
       {"recipe.yaml", "run.json", "metrics.csv", "events.jsonl", "log.txt", "source",
        "checkpoints/step-00000008/model.safetensors", "checkpoints/step-00000008/MANIFEST.json"})
    EXPECT_TRUE(exists(home + name)) << name;
  EXPECT_TRUE(exists(folder / "runs/small/latest"));
}

INSTANTIATE_TEST_SUITE_P(Modes, RunInMode,
                         testing::Values("parallel.mode=none", "parallel.mode=dp",
                                         "parallel.mode=ddp"),
                         [](const auto& param) {
                           return param.param.substr(param.param.find('=') + 1);
                         });

TEST(Run, TwiceGivesTheSameWeightsAndMetricsWhateverTheWorkers) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  for (const auto* workers :
       {"data.loader.workers=1", "data.loader.workers=4", "data.loader.workers=0"})
    ASSERT_EQ(run({"run", "small.yaml", workers}, folder.path(), environment()).code, 0);
  for (const auto* file : {"/checkpoints/step-00000008/model.safetensors", "/metrics.csv",
                           "/checkpoints/step-00000008/optimizer.safetensors"}) {
    const auto first = read(folder / "runs/small/001" + file);
    EXPECT_FALSE(first.empty());
    EXPECT_EQ(first, read(folder / "runs/small/002" + file)) << file;
    EXPECT_EQ(first, read(folder / "runs/small/003" + file)) << file;
  }
}

TEST(Run, OnTheResolvedRecipeRepeatsTheRun) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  ASSERT_EQ(run({"run", "small.yaml"}, folder.path(), environment()).code, 0);
  const auto again = run({"run", "runs/small/001/recipe.yaml"}, folder.path());
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(read(folder / "runs/small/001/checkpoints/step-00000008/model.safetensors"),
            read(folder / "runs/small/002/checkpoints/step-00000008/model.safetensors"));
}

TEST(Run, WithATypoStartsNothing) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe("seeed: 1\n"));
  const auto ended = run({"run", "small.yaml"}, folder.path(), environment());
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err,
              testing::HasSubstr(
                  "error[unknown-key]: 'seeed' is not a key of a recipe; did you mean 'seed'?\n"));
  EXPECT_THAT(ended.err, testing::HasSubstr("\n1 error; nothing was started\n"));
  EXPECT_EQ(last_line(ended.err), "'ddptrain help error unknown-key' says more");
  EXPECT_FALSE(exists(folder / "runs"));
}

TEST(Run, WithoutTheDataSaysWhereTheyAreNamedAndLeavesNoFolder) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  for (const auto* mode : {"parallel.mode=none", "parallel.mode=ddp"}) {
    const auto devices = std::string(mode) == "parallel.mode=ddp" ? "2" : "1";
    const auto ended = run({"run", "small.yaml", mode, std::string("parallel.devices=") + devices},
                           folder.path(), {{"SHAPES", "/nowhere/shapes"}});
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_THAT(
        ended.err,
        testing::HasSubstr("small.yaml:6:9: error: data.root: '/nowhere/shapes' is not there; "));
    EXPECT_FALSE(exists(folder / "runs"));
  }
}

TEST(Run, WithMoreRanksThanTheBatchSaysSoBeforeItStarts) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const auto ended =
      run({"run", "small.yaml", "parallel.mode=ddp", "parallel.devices=3", "batch.micro=5"},
          folder.path(), environment());
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_THAT(ended.err,
              testing::HasSubstr("small.yaml:17:17: error[batch]: batch.global: 16 cannot be split "
                                 "over 3 devices with batch.micro 5; nearest: 15, 30\n"));
  EXPECT_FALSE(exists(folder / "runs"));
}

TEST(Run, WithAnUnwritableRunFolderNamesIt) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  write(folder / "file", "");
  const auto ended =
      run({"run", "small.yaml", "output.dir=file/runs"}, folder.path(), environment());
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_THAT(ended.err, testing::HasSubstr("error: cannot make the folder '" +
                                            folder / "file/runs/small" + "': not a directory\n"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
