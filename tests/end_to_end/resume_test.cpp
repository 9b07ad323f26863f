// A resumed run equals an uninterrupted one, bit for bit, wherever it was cut.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

#include "program.h"

namespace ddptrain::end_to_end {
namespace {

std::map<std::string, std::string> environment() { return {{"SHAPES", shapes()}}; }

// EMA, accumulation, the weighted sampler, two compute threads.
std::vector<std::string> overrides(const std::string& model, int ranks, int workers) {
  return {"model={type: " + model + ", num_classes: auto}",
          "train.duration=30 steps",
          "train.ema.decay=0.9",
          "train.threads=2",
          "batch.accumulate=2",
          "data.sampler.type=weighted",
          "data.loader.workers=" + std::to_string(workers),
          "checkpoint.every=7 steps",
          "eval.every=10 steps",
          std::string("parallel.mode=") + (ranks > 1 ? "ddp" : "none"),
          "parallel.devices=" + std::to_string(ranks)};
}

std::vector<std::string> with(std::vector<std::string> first,
                              const std::vector<std::string>& more) {
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

void expect_equal_runs(const std::string& a, const std::string& b) {
  for (const auto* file : {"checkpoints/step-00000030/model.safetensors",
                           "checkpoints/step-00000030/optimizer.safetensors",
                           "checkpoints/step-00000030/ema.safetensors",
                           "checkpoints/step-00000030/state.json", "metrics.csv"}) {
    EXPECT_FALSE(read(a + "/" + file).empty()) << file;
    EXPECT_EQ(read(a + "/" + file), read(b + "/" + file)) << file;
  }
}

// Steps that the log of a running program has reached.
void wait_for_step(Program& program, int step) {
  const auto mark = "step " + std::to_string(step);
  for (int i = 0; i < 12000 && program.running(); ++i) {
    if (program.err().find(mark) != std::string::npos) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

struct ResumeCase {
  const char* model;
  int ranks;
  int workers;
};

class Resume : public testing::TestWithParam<ResumeCase> {};

TEST_P(Resume, AfterSigkillEqualsAnUninterruptedRun) {
  const auto& [model, ranks, workers] = GetParam();
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const auto options = overrides(model, ranks, workers);
  ASSERT_EQ(run(with({"run", "small.yaml"}, options), folder.path(), environment()).code, 0);
  std::mt19937 random(7);
  Program cut(with({"run", "small.yaml"}, options), folder.path(), environment());
  wait_for_step(cut, 9);
  cut.signal(SIGKILL);
  cut.wait();
  for (int kills = 0; kills < 2; ++kills) {
    Program again({"resume", "runs/small/002"}, folder.path());
    wait_for_step(again, 15 + static_cast<int>(random() % 8));
    again.signal(SIGKILL);
    again.wait();
  }
  const auto last = run({"resume", "runs/small/002"}, folder.path());
  ASSERT_EQ(last.code, 0) << last.err;
  expect_equal_runs(folder / "runs/small/001", folder / "runs/small/002");
}

INSTANTIATE_TEST_SUITE_P(Models, Resume,
                         testing::Values(ResumeCase{"resnet18", 1, 1}, ResumeCase{"resnet18", 2, 4},
                                         ResumeCase{"mnist_net", 1, 4},
                                         ResumeCase{"mnist_net", 2, 1},
                                         ResumeCase{"mnist_net", 4, 1}),
                         [](const auto& param) {
                           return std::string(param.param.model) + "_" +
                                  std::to_string(param.param.ranks) + "_ranks";
                         });

TEST(Resume, AfterCtrlCSavesAndGoesOn) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const auto options = overrides("mnist_net", 2, 1);
  ASSERT_EQ(run(with({"run", "small.yaml"}, options), folder.path(), environment()).code, 0);
  Program cut(with({"run", "small.yaml"}, options), folder.path(), environment());
  wait_for_step(cut, 4);
  cut.signal(SIGINT);
  const auto ended = cut.wait();
  EXPECT_EQ(ended.code, 128 + SIGINT) << ended.err;
  EXPECT_TRUE(processes_with(folder.path()).empty());
  ASSERT_EQ(run({"resume", "runs/small/002"}, folder.path()).code, 0);
  expect_equal_runs(folder / "runs/small/001", folder / "runs/small/002");
}

TEST(Resume, RefusesACheckpointWithAFlippedBitAndTakesTheOneBefore) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  ASSERT_EQ(
      run({"run", "small.yaml", "checkpoint.every=4 steps"}, folder.path(), environment()).code, 0);
  const auto newest = folder / "runs/small/001/checkpoints/step-00000008/model.safetensors";
  auto bytes = read(newest);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write(newest, bytes);
  const auto resumed = run({"resume", "runs/small/001", "train.duration=10 steps"}, folder.path());
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("step-00000008"), std::string::npos) << resumed.err;
}

TEST(Resume, OfAnotherModelNamesTheTensor) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  ASSERT_EQ(run({"run", "small.yaml"}, folder.path(), environment()).code, 0);
  const auto resumed =
      run({"resume", "runs/small/001", "model.type=mnist_net", "train.duration=10 steps"},
          folder.path());
  EXPECT_EQ(resumed.code, 3) << resumed.err;
  EXPECT_NE(resumed.err.find("conv1.weight"), std::string::npos) << resumed.err;
}

}  // namespace
}  // namespace ddptrain::end_to_end
