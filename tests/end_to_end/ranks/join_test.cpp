// Ranks that another launcher started.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <thread>

#include "end_to_end/checkpoints/weights_of_runs.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

TEST(Join, RanksThatTorchrunStartedTrainAsOneRun) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const std::vector<std::string> words{"run", "small.yaml", "parallel.mode=ddp",
                                       "parallel.devices=2"};
  ASSERT_EQ(run(words, folder.path(), environment()).code, 0);
  const auto port = free_port();
  const auto rank = [&](const std::string& number) {
    return std::map<std::string, std::string>{{"SHAPES", shapes()},
                                              {"RANK", number},
                                              {"LOCAL_RANK", number},
                                              {"WORLD_SIZE", "2"},
                                              {"LOCAL_WORLD_SIZE", "2"},
                                              {"MASTER_ADDR", "127.0.0.1"},
                                              {"MASTER_PORT", port},
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

/// Whether a program listens there on the loopback address.
bool listens(const std::string& port) {
  const int made = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(port)));
  const bool found = ::connect(made, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  ::close(made);
  return found;
}

// Rank 0 serves the meeting point, and waits there for another that never comes.
TEST(Join, ASignalEndsARankThatWaitsForOthers) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  for (const int asked : {SIGTERM, SIGINT}) {
    const auto port = free_port();
    Program first({"run", "small.yaml", "parallel.mode=ddp", "parallel.devices=2",
                   "parallel.timeout.start=1 h"},
                  folder.path(), joined_rank("0", port));
    while (first.running() && !listens(port))
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    first.signal(asked);
    EXPECT_EQ(first.wait().code, 128 + asked);
  }
  EXPECT_FALSE(exists(folder / "runs/small/001"));
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
  const auto port = free_port();
  Program first(start, folder.path(), joined_rank("0", port));
  Program second(start, folder.path(), joined_rank("1", port));
  while (first.running() && first.err().find("  saved ") == std::string::npos)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const std::vector<std::string> resume{"resume", folder / "runs/small/001"};
  const auto other = free_port();
  Program a(resume, folder.path(), joined_rank("0", other));
  Program b(resume, folder.path(), joined_rank("1", other));
  for (const auto& ended : {a.wait(), b.wait()}) {
    EXPECT_EQ(ended.code, 3) << ended.err;
    EXPECT_THAT(ended.err,
                testing::HasSubstr("error: another process is working in the run folder '" +
                                   folder / "runs/small/001" + "'\n"));
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
      EXPECT_THAT(ended.err, testing::HasSubstr(image));
      const auto other = "rank " + std::to_string(failing) + ": ";
      EXPECT_EQ(ended.err.find(other) != std::string::npos, rank != failing) << ended.err;
    }
  }
}

const std::vector<std::string> kEndless{"run",
                                        "small.yaml",
                                        "parallel.mode=ddp",
                                        "parallel.devices=3",
                                        "batch.global=15",
                                        kSmallModel,
                                        "train.duration=1000000 steps",
                                        "eval.every=1000000 steps",
                                        "checkpoint.every=1000000 steps",
                                        "log.every=1 step",
                                        "parallel.timeout.step=6s"};

/// Three ranks of another launcher on three nodes; `lost` gets a signal in the midst of training.
std::vector<Ended> with_a_lost_rank(const Folder& folder, int lost, int signal,
                                    const std::string& port) {
  write(folder / "small.yaml", small_recipe());
  std::vector<std::unique_ptr<Program>> ranks;
  for (const int rank : {0, 1, 2}) {
    auto environment = joined_rank(std::to_string(rank), port);
    environment["WORLD_SIZE"] = "3";
    environment["LOCAL_RANK"] = "0";
    environment["LOCAL_WORLD_SIZE"] = "1";
    ranks.push_back(std::make_unique<Program>(kEndless, folder.path(), environment));
  }
  while (ranks[0]->running() && reached_step(ranks[0]->err()) < 20)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // a sign is left every second
  ranks[static_cast<std::size_t>(lost)]->signal(signal);
  std::vector<Ended> ended;
  for (const int rank : {0, 1, 2}) {
    if (rank == lost) continue;
    ended.push_back(ranks[static_cast<std::size_t>(rank)]->wait());
  }
  ranks[static_cast<std::size_t>(lost)]->signal(SIGKILL);
  return ended;
}

// Rank 0 serves the store, so that its end is noticed in another way.
TEST(Join, ARankThatWasKilledIsNamedByTheOthersWithItsPhase) {
  const std::string phase =
      " in phase 'step' after step [0-9]+ on [^\n]+[:;] it was killed or suspended, or its node is "
      "lost\n";
  for (const int lost : {2, 0}) {
    const Folder folder;
    const auto why = (lost == 0 ? "error: rank 0: no answer from the meeting point, which it "
                                  "serves \\(MASTER_ADDR\\): it was last seen"
                                : "error: rank 2: no sign of life since it was") +
                     phase;
    for (const auto& ended :
         with_a_lost_rank(folder, lost, SIGKILL, "2954" + std::to_string(lost))) {
      EXPECT_EQ(ended.code, 4) << ended.err;
      EXPECT_THAT(ended.err, testing::ContainsRegex(why));
      EXPECT_THAT(ended.err, testing::Not(testing::HasSubstr("Exception raised from")));
    }
    if (lost == 0) continue;
    const auto record = read(folder / "runs/small/001/run.json");
    EXPECT_THAT(record, testing::HasSubstr("\n  \"exit_code\": 4,\n"));
    EXPECT_THAT(record, testing::Not(testing::HasSubstr("\"ended\": null")));
    for (const auto* log : {"log.txt", "log.rank1.txt"})
      EXPECT_THAT(read(folder / ("runs/small/001/" + std::string(log))),
                  testing::ContainsRegex(why))
          << log;
    EXPECT_THAT(
        read(folder / "runs/small/001/log.txt"),
        testing::ContainsRegex("'[^\n]*ddptrain resume runs/small/001' continues this run\n"));
  }
}

TEST(Join, ARankThatIsSuspendedIsNamedByTheOthersWithItsPhase) {
  for (const int lost : {1, 0})
    for (const auto& ended :
         with_a_lost_rank(Folder(), lost, SIGSTOP, "2955" + std::to_string(lost))) {
      EXPECT_EQ(ended.code, 4) << ended.err;
      EXPECT_THAT(ended.err, testing::HasSubstr("rank " + std::to_string(lost) + ": no "));
      EXPECT_THAT(ended.err, testing::HasSubstr("in phase 'step' after step "));
    }
}

/// A pod of Kubeflow's TrainJob.
std::map<std::string, std::string> pod(const std::string& node, const std::string& ranks,
                                       const std::string& port) {
  return {{"SHAPES", shapes()},
          {"PET_NNODES", "2"},
          {"PET_NODE_RANK", node},
          {"PET_NPROC_PER_NODE", ranks},
          {"PET_MASTER_ADDR", "127.0.0.1"},
          {"PET_MASTER_PORT", port}};
}

// Their sums are made in another order than those of ranks that share memory.
TEST(Join, PodsOfATrainJobStartTheirRanksAndTrainAsOneRun) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const std::vector<std::string> words{"run",
                                       "small.yaml",
                                       "parallel.mode=ddp",
                                       "parallel.devices=4",
                                       "train.threads=1",
                                       "train.precision=fp64"};
  ASSERT_EQ(run(words, folder.path(), environment()).code, 0);
  for (const auto* ranks : {"2", "auto"}) {
    const auto port = free_port();
    Program first(words, folder.path(), pod("0", ranks, port));
    Program second(words, folder.path(), pod("1", ranks, port));
    const auto a = first.wait(), b = second.wait();
    ASSERT_EQ(a.code, 0) << a.err;
    EXPECT_EQ(b.code, 0) << b.err;
  }
  const auto file = [&](const std::string& run, const std::string& name) {
    return folder / "runs/small/" + run + name;
  };
  const std::string last = "/checkpoints/step-00000008";
  for (const auto& name : {last + "/model.safetensors", std::string("/metrics.csv")})
    EXPECT_TRUE(read(file("002", name)) == read(file("003", name))) << name;
  EXPECT_LT(difference(weights_of(file("002", last)), weights_of(file("001", last))), 1e-9);
  EXPECT_FALSE(exists(folder / "runs/small/004"));
}

TEST(Join, AKilledRankOfAPodIsNamedInBoth) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  auto words = kEndless;
  words[3] = "parallel.devices=4";
  words[4] = "batch.global=16";
  const auto port = free_port();
  Program first(words, folder.path(), pod("0", "2", port));
  Program second(words, folder.path(), pod("1", "2", port));
  while (first.running() && reached_step(first.err()) < 20)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  auto children = children_of(second.pid());
  ASSERT_EQ(children.size(), 2u);
  std::sort(children.begin(), children.end());
  ::kill(children[1], SIGKILL);
  const auto a = first.wait(), b = second.wait();
  EXPECT_EQ(b.code, 128 + SIGKILL) << b.err;
  EXPECT_THAT(b.err, testing::HasSubstr("error: rank 3 was killed by signal 9 (SIGKILL); if no "
                                        "process sent it, the kernel ran out of memory\n"));
  EXPECT_EQ(a.code, 4) << a.err;
  EXPECT_THAT(a.err, testing::HasSubstr("rank 3: no sign of life"));
}

TEST(Join, NodesThatStartDifferentNumbersOfRanksAreRefused) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const std::vector<std::string> words{"run",       "small.yaml",      "parallel.mode=ddp",
                                       kSmallModel, "batch.global=24", "parallel.timeout.start=5s"};
  const auto port = free_port();
  Program first(words, folder.path(), pod("0", "2", port));
  Program second(words, folder.path(), pod("1", "1", port));
  const auto a = first.wait(), b = second.wait();
  EXPECT_EQ(a.code, 4) << a.err;
  EXPECT_EQ(b.code, 4) << b.err;
  EXPECT_THAT((a.err + b.err),
              testing::HasSubstr(": give every node the same number of ranks (parallel.devices, or "
                                 "the launcher's own option)"))
      << a.err << b.err;
}

TEST(Join, AJobOnSeveralNodesNeverTrainsAlone) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  auto variables = environment();
  variables["SLURM_JOB_NUM_NODES"] = "2";
  const std::vector<std::string> words{"run", "small.yaml", kSmallModel};
  const auto refused = run(words, folder.path(), variables);
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err,
              testing::HasSubstr(
                  "error: SLURM_JOB_NUM_NODES is 2 in the environment (Slurm): this process is one "
                  "of a job on several nodes, does not know its rank, and would train alone; start "
                  "it with 'srun', or set PET_NNODES, PET_NODE_RANK, PET_MASTER_ADDR and "
                  "PET_MASTER_PORT on every node; DDPTRAIN_SINGLE_NODE=1 uses this node alone\n"));
  EXPECT_FALSE(exists(folder / "runs"));
  variables["DDPTRAIN_SINGLE_NODE"] = "1";
  EXPECT_EQ(run(words, folder.path(), variables).code, 0);
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
