// `run --repeat`: ordinary runs on several seeds, one after the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <sstream>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

const std::string kWeights = "/checkpoints/step-00000004/model.safetensors";

TEST(Repeat, MakesTheRunsThatTheirSeedsWouldMake) {
  for (const auto* mode : {"parallel.mode=none", "parallel.mode=ddp"}) {
    const auto devices =
        std::string("parallel.devices=") + (mode == std::string("parallel.mode=ddp") ? "2" : "1");
    const Folder folder;
    write(folder / "small.yaml", small_recipe());
    const std::vector<std::string> words{"run", "small.yaml", kSmallModel, "train.duration=4 steps",
                                         mode,  devices,      "seed=5"};
    auto repeated = words;
    repeated.insert(repeated.end(), {"--repeat", "2"});
    const auto ended = run(repeated, folder.path(), environment());
    ASSERT_EQ(ended.code, 0) << ended.err;
    for (const auto* row : {"5", "6", "mean", "deviation"})
      EXPECT_THAT(ended.out,
                  testing::ContainsRegex("\n" + std::string(row) + " +[0-9.]+ +[0-9.]+\n"));
    EXPECT_FALSE(exists(folder / "runs/small/repeat.json"));
    auto alone = words;
    alone.back() = "seed=6";
    ASSERT_EQ(run(alone, folder.path(), environment()).code, 0);
    const auto second = read(folder / "runs/small/002" + kWeights);
    EXPECT_FALSE(second.empty());
    EXPECT_EQ(second, read(folder / "runs/small/003" + kWeights)) << mode;
    EXPECT_NE(second, read(folder / "runs/small/001" + kWeights)) << mode;
  }
}

/// What -v logs of the samples of each step.
std::string samples_of(const std::string& run) {
  std::string found;
  std::istringstream log(read(run + "/log.txt"));
  for (std::string line; std::getline(log, line);)
    if (const auto at = line.find(" samples "); at != std::string::npos)
      found += line.substr(at) + "\n";
  return found;
}

TEST(Repeat, SeesTheSameBatchesWhereTheDataHaveASeedOfTheirOwn) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  for (const auto* seed : {"data_seed=9", "data_seed=null"}) {
    const auto ended = run({"run", "small.yaml", kSmallModel, "train.duration=4 steps", "-v",
                            "seed=5", seed, "--repeat", "2"},
                           folder.path(), environment());
    ASSERT_EQ(ended.code, 0) << ended.err;
  }
  const auto of = [&](const char* number) {
    return folder / ("runs/small/00" + std::string(number));
  };
  EXPECT_FALSE(samples_of(of("1")).empty());
  EXPECT_EQ(samples_of(of("1")), samples_of(of("2")));
  EXPECT_NE(samples_of(of("3")), samples_of(of("4")));
  EXPECT_NE(read(of("1") + kWeights), read(of("2") + kWeights));
}

TEST(Affinity, ChangesWhereRanksRunAndNoWeight) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  for (const auto* affinity : {"parallel.affinity=none", "parallel.affinity=cores"}) {
    const auto ended = run({"run", "small.yaml", kSmallModel, "train.duration=4 steps", "-v",
                            "train.threads=1", "parallel.mode=ddp", "parallel.devices=2", affinity},
                           folder.path(), environment());
    ASSERT_EQ(ended.code, 0) << ended.err;
    EXPECT_EQ(ended.err.find("runs on cores") != std::string::npos,
              affinity == std::string("parallel.affinity=cores"))
        << ended.err;
  }
  EXPECT_EQ(read(folder / "runs/small/001" + kWeights), read(folder / "runs/small/002" + kWeights));
}

TEST(Repeat, EndsWithTheWorstCodeAfterAllSeeds) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe("expect: {accuracy: {min: 1}}\n"));
  const auto ended =
      run({"run", "small.yaml", kSmallModel, "train.duration=2 steps", "--repeat", "2"},
          folder.path(), environment());
  EXPECT_EQ(ended.code, 6) << ended.err;
  EXPECT_THAT(ended.out, testing::ContainsRegex("\n43 +[0-9.]+ +[0-9.]+\n"));
  const auto spoilt = run({"run", "small.yaml", kSmallModel, "train.duration=60 steps",
                           "optimizer.lr=1e30", "eval.every=60 steps", "--repeat", "2"},
                          folder.path(), environment());
  EXPECT_EQ(spoilt.code, 5) << spoilt.err;
  EXPECT_TRUE(exists(folder / "runs/small/004"));
}

TEST(Repeat, GoesOnWhereItWasInterrupted) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const std::vector<std::string> words{
      "run",      "small.yaml", kSmallModel, "train.duration=40 steps", "eval.every=40 steps",
      "--repeat", "2"};
  {
    Program program(words, folder.path(), environment());
    for (int i = 0; i < 6000 && !exists(folder / "runs/small/002/run.json"); ++i) ::usleep(10'000);
    for (int i = 0;
         i < 6000 && read(folder / "runs/small/002/log.txt").find("step 3/") == std::string::npos;
         ++i)
      ::usleep(1'000);
    program.signal(SIGINT);
    const auto ended = program.wait();
    ASSERT_EQ(ended.code, 130) << ended.err;
    EXPECT_THAT(ended.err,
                testing::HasSubstr("run the same command again to continue with seed 43\n"));
  }
  const auto again = run(words, folder.path(), environment());
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_THAT(again.err, testing::HasSubstr("seed 42: done in " + folder / "runs/small/001\n"));
  EXPECT_THAT(again.err, testing::HasSubstr("seed 43: resuming in " + folder / "runs/small/002\n"));
  EXPECT_THAT(again.out, testing::ContainsRegex("\n43 +[0-9.]+ +[0-9.]+\n"));
  EXPECT_FALSE(exists(folder / "runs/small/003"));
}

TEST(Repeat, RefusesACountThatIsNone) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  for (const auto* count : {"1", "0", "many", "2.5"}) {
    const auto ended = run({"run", "small.yaml", "--repeat", count}, folder.path(), environment());
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_THAT(ended.err, testing::HasSubstr("is not a number of runs from 2 to 1000\n"));
  }
  EXPECT_FALSE(exists(folder / "runs"));
}

TEST(Repeat, IsRefusedUnderAnotherLauncher) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  auto names = environment();
  names.insert({{"RANK", "0"},
                {"WORLD_SIZE", "2"},
                {"LOCAL_RANK", "0"},
                {"LOCAL_WORLD_SIZE", "2"},
                {"MASTER_ADDR", "127.0.0.1"},
                {"MASTER_PORT", "1"}});
  const auto ended = run({"run", "small.yaml", "--repeat", "2"}, folder.path(), names);
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_THAT(ended.err, testing::HasSubstr("error: --repeat starts its ranks itself; under "
                                            "another launcher give each run its 'seed='\n"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
