// Ranks that somebody else started.
#include <gtest/gtest.h>

#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

TEST(Join, RanksThatTorchrunStartedTrainAsOneRun) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const std::vector<std::string> words{"run", "small.yaml", "parallel.mode=ddp",
                                       "parallel.devices=2"};
  ASSERT_EQ(run(words, folder.path(), environment()).code, 0);
  const auto rank = [&](const std::string& number) {
    return std::map<std::string, std::string>{{"SHAPES", shapes()},
                                              {"RANK", number},
                                              {"LOCAL_RANK", number},
                                              {"WORLD_SIZE", "2"},
                                              {"LOCAL_WORLD_SIZE", "2"},
                                              {"MASTER_ADDR", "127.0.0.1"},
                                              {"MASTER_PORT", "29517"},
                                              {"TORCHELASTIC_RUN_ID", "test"},
                                              {"TORCHELASTIC_RESTART_COUNT", "0"}};
  };
  Program first(words, folder.path(), rank("0"));
  Program second(words, folder.path(), rank("1"));
  const auto a = first.wait(), b = second.wait();
  ASSERT_EQ(a.code, 0) << a.err;
  EXPECT_EQ(b.code, 0) << b.err;
  for (const auto* file : {"/checkpoints/step-00000008/model.safetensors", "/metrics.csv"})
    EXPECT_TRUE(read(folder / "runs/small/001" + file) == read(folder / "runs/small/002" + file))
        << file;
  EXPECT_FALSE(exists(folder / "runs/small/003"));
}

std::map<std::string, std::string> joined_rank(const std::string& number, const std::string& port) {
  return {{"SHAPES", shapes()},
          {"RANK", number},
          {"LOCAL_RANK", number},
          {"WORLD_SIZE", "2"},
          {"LOCAL_WORLD_SIZE", "2"},
          {"MASTER_ADDR", "127.0.0.1"},
          {"MASTER_PORT", port},
          {"TORCHELASTIC_RUN_ID", "test"},
          {"TORCHELASTIC_RESTART_COUNT", "0"}};
}

TEST(Join, ARunOnWhichOthersWorkIsRefusedByAllRanks) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const std::vector<std::string> start{"run",
                                       "small.yaml",
                                       "parallel.mode=ddp",
                                       "parallel.devices=2",
                                       kSmallModel,
                                       "train.duration=1000000 steps",
                                       "eval.every=1000000 steps",
                                       "checkpoint.every=5 steps"};
  Program first(start, folder.path(), joined_rank("0", "29519"));
  Program second(start, folder.path(), joined_rank("1", "29519"));
  while (first.running() && first.err().find("  saved ") == std::string::npos)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const std::vector<std::string> resume{"resume", folder / "runs/small/001"};
  Program a(resume, folder.path(), joined_rank("0", "29520"));
  Program b(resume, folder.path(), joined_rank("1", "29520"));
  for (const auto& ended : {a.wait(), b.wait()}) {
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_NE(ended.err.find("another process is working in the run folder"), std::string::npos)
        << ended.err;
  }
  EXPECT_EQ(run(resume, folder.path(), environment()).code, 3);
  for (auto* each : {&first, &second}) each->signal(SIGTERM);
  EXPECT_EQ(first.wait().code, 128 + SIGTERM);
  EXPECT_EQ(second.wait().code, 128 + SIGTERM);
}

// Rows 0 to 7 of the first batch are those of rank 0, which serves the store, the others of rank 1.
TEST(Join, ALostPeerReportsTheCauseOfTheOther) {
  for (const int failing : {0, 1}) {
    const Folder folder;
    write(folder / "small.yaml", small_recipe());
    std::filesystem::copy(shapes(), folder / "torn", std::filesystem::copy_options::recursive);
    const auto first = folder / "torn/train/" + list(shapes() + "/train")[0];
    const auto image = first + "/" + list(first)[failing == 0 ? 2 : 9];
    std::filesystem::resize_file(image, 40);
    const std::vector<std::string> words{"run",
                                         "small.yaml",
                                         "parallel.mode=ddp",
                                         "parallel.devices=2",
                                         "data.sampler=sequential",
                                         kSmallModel};
    std::vector<std::unique_ptr<Program>> ranks;
    for (const int rank : {0, 1}) {
      auto environment = joined_rank(std::to_string(rank), "2953" + std::to_string(failing));
      environment["SHAPES"] = folder / "torn";
      ranks.push_back(std::make_unique<Program>(words, folder.path(), environment));
    }
    for (const int rank : {0, 1}) {
      const auto ended = ranks[static_cast<std::size_t>(rank)]->wait();
      EXPECT_EQ(ended.code, 3) << ended.err;
      EXPECT_NE(ended.err.find(image), std::string::npos) << ended.err;
      const auto other = "rank " + std::to_string(failing) + ": ";
      EXPECT_EQ(ended.err.find(other) != std::string::npos, rank != failing) << ended.err;
    }
  }
}

TEST(Join, UnderTorchrunTheModelIsThatOfOurOwnLauncher) {
  const char* peers = std::getenv("DDPTRAIN_PEERS");
  if (!peers) GTEST_SKIP() << "DDPTRAIN_PEERS names no Python environment with torchrun";
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const std::vector<std::string> words{"run", "small.yaml", "parallel.mode=ddp",
                                       "parallel.devices=2", "train.threads=1"};
  ASSERT_EQ(run(words, folder.path(), environment()).code, 0);
  std::vector<std::string> torchrun{"-m",           "torch.distributed.run", "--no-python",
                                    "--standalone", "--nproc-per-node",      "2",
                                    test::program()};
  torchrun.insert(torchrun.end(), words.begin(), words.end());
  const auto ended =
      Program(torchrun, folder.path(), environment(), std::string(peers) + "/bin/python").wait();
  ASSERT_EQ(ended.code, 0) << ended.err;
  const std::string file = "/checkpoints/step-00000008/model.safetensors";
  EXPECT_FALSE(read(folder / "runs/small/001" + file).empty());
  EXPECT_TRUE(read(folder / "runs/small/001" + file) == read(folder / "runs/small/002" + file));
}

}  // namespace
}  // namespace ddptrain::end_to_end
