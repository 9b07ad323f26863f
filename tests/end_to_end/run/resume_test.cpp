// A resumed run equals an uninterrupted one, bit for bit, wherever it was interrupted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <iterator>
#include <random>
#include <sstream>
#include <thread>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

// Two threads in each of several ranks are more than the cores: where they spin while they wait, a
// step takes twenty times as long.
std::map<std::string, std::string> patient_environment() {
  return {{"SHAPES", shapes()}, {"OMP_WAIT_POLICY", "PASSIVE"}};
}

struct ResumeCase {
  const char* model;  // mnist_net, or that of the small recipe
  int ranks;
  int workers;
  bool compressed = false;  // gradients, by PowerSGD, whose errors of each rank are state
};

// The small shapes with the number of its class, 0 to 9, as the weight of each image.
std::string weighted_list() {
  std::string csv = "path,label,split,weight\n";
  for (const auto* split : {"train", "val"}) {
    int weight = 0;
    for (const auto& name : list(shapes() + "/" + split)) {
      for (const auto& file : list(shapes() + "/" + split + "/" + name))
        csv += std::string(split) + "/" + name + "/" + file + "," + name + "," +
               (std::string(split) == "val" ? "valid" : "train") + "," + std::to_string(weight) +
               "\n";
      ++weight;
    }
  }
  return csv;
}

void write_weighted_recipe(const Folder& folder) {
  auto recipe = small_recipe();
  const std::string from =
      "type: image_folder\n  root: ${env:SHAPES}\n  train: train\n  valid: val";
  recipe.replace(recipe.find(from), from.size(),
                 "type: manifest\n  root: ${env:SHAPES}\n  file: weighted.csv");
  write(folder / "small.yaml", recipe);
  write(folder / "weighted.csv", weighted_list());
}

// EMA, accumulation, the weighted sampler, two compute threads. -v logs the sampled ids.
std::vector<std::string> words(const ResumeCase& what, int steps) {
  std::vector<std::string> words{"run",
                                 "small.yaml",
                                 "-v",
                                 "train.duration=" + std::to_string(steps) + " steps",
                                 "train.ema.decay=0.9",
                                 "train.threads=2",
                                 "batch.accumulate=2",
                                 "data.sampler.type=weighted",
                                 "data.loader.workers=" + std::to_string(what.workers),
                                 "checkpoint.every=7 steps",
                                 "eval.every=10 steps",
                                 std::string("parallel.mode=") + (what.ranks > 1 ? "ddp" : "none"),
                                 "parallel.devices=" + std::to_string(what.ranks)};
  if (what.model == std::string("mnist_net")) words.emplace_back(kSmallModel);
  if (what.compressed) words.push_back("parallel.ddp.comm.power_sgd={rank: 1, start: 3 steps}");
  return words;
}

// What one rank trained on: the ids of each step and micro-step, as last executed.
std::map<std::string, std::vector<int>> sampled(const std::string& run, int rank) {
  const auto log =
      read(run + (rank == 0 ? "/log.txt" : "/log.rank" + std::to_string(rank) + ".txt"));
  const std::string mark = " samples ";  // "... samples 12.1: 5 3 9"
  std::map<std::string, std::vector<int>> ids;
  for (auto at = log.find(mark); at != std::string::npos; at = log.find(mark, at + 1)) {
    std::istringstream line(log.substr(at + mark.size(), log.find('\n', at) - at - mark.size()));
    std::string step;
    if (line >> step; step.ends_with(':')) ids[step] = {std::istream_iterator<int>(line), {}};
  }
  return ids;
}

void expect_equal_samples(const std::string& a, const std::string& b, int ranks, int steps) {
  std::size_t count = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto expected = sampled(a, rank);
    EXPECT_EQ(expected.size(), static_cast<std::size_t>(2 * steps)) << "rank " << rank;
    EXPECT_EQ(sampled(b, rank), expected) << "rank " << rank;
    for (const auto& [step, ids] : expected) {
      count += ids.size();
      for (const int id : ids) EXPECT_GE(id, 12) << "its weight is 0";
    }
  }
  EXPECT_EQ(count, static_cast<std::size_t>(16 * steps));
}

std::string checkpoint(const std::string& run, int step) {
  char name[32];
  std::snprintf(name, sizeof name, "/checkpoints/step-%08d", step);
  return run + name;
}

void expect_equal_runs(const std::string& a, const std::string& b, const ResumeCase& what,
                       int steps) {
  std::vector<std::string> files{"/model.safetensors", "/optimizer.safetensors", "/ema.safetensors",
                                 "/state.json"};
  if (what.compressed) files.push_back("/reduction.safetensors");
  for (const auto& file : files) {
    const auto expected = read(checkpoint(a, steps) + file);
    EXPECT_FALSE(expected.empty()) << file;
    EXPECT_TRUE(read(checkpoint(b, steps) + file) == expected) << file;
  }
  EXPECT_FALSE(read(a + "/metrics.csv").empty());
  EXPECT_EQ(read(a + "/metrics.csv"), read(b + "/metrics.csv"));
  expect_equal_samples(a, b, what.ranks, steps);
}

int newest_checkpoint(const std::string& run) {
  int newest = 0;
  if (!exists(run + "/checkpoints")) return newest;
  for (const auto& name : list(run + "/checkpoints"))
    if (name.starts_with("step-")) newest = std::max(newest, std::atoi(name.c_str() + 5));
  return newest;
}

void pause(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

void wait_for_step(Program& program, int step) {
  while (program.running() && reached_step(program.err()) < step) pause(5);
}

// Kills a run between one and two checkpoints after `saved`; the checkpoint that it then has.
int kill_between_checkpoints(Program& program, const std::string& run, int saved,
                             std::mt19937& random) {
  const int step = saved + 7 + static_cast<int>(random() % 7);
  wait_for_step(program, step);
  while (program.running() && newest_checkpoint(run) <= saved) pause(5);
  pause(static_cast<int>(random() % 40));
  const int reached = reached_step(program.err());
  program.signal(SIGKILL);
  const auto ended = program.wait();
  EXPECT_EQ(ended.code, 128 + SIGKILL) << "it ended before it was killed: " << ended.err;
  EXPECT_GT(newest_checkpoint(run), saved);
  std::cout << " " << reached << std::flush;
  return newest_checkpoint(run);
}

void expect_killed_equals_uninterrupted(const ResumeCase& what, int kills, int steps) {
  const Folder folder;
  write_weighted_recipe(folder);
  const auto whole = folder / "runs/small/001", cut = folder / "runs/small/002";
  ASSERT_EQ(run(words(what, steps), folder.path(), patient_environment()).code, 0);
  std::mt19937 random(static_cast<unsigned>(100 * what.ranks + what.workers));
  std::cout << "killed after step" << std::flush;
  for (int kill = 0, saved = 0; kill < kills && !testing::Test::HasFailure(); ++kill) {
    Program program(kill == 0 ? words(what, steps) : std::vector<std::string>{"resume", cut, "-v"},
                    folder.path(), patient_environment());
    saved = kill_between_checkpoints(program, cut, saved, random);
  }
  std::cout << std::endl;
  const auto last = run({"resume", cut, "-v"}, folder.path(), patient_environment());
  ASSERT_EQ(last.code, 0) << last.err;
  expect_equal_runs(whole, cut, what, steps);
}

std::string case_name(const testing::TestParamInfo<ResumeCase>& info) {
  return std::string(info.param.model) + "_" + std::to_string(info.param.ranks) + "_ranks_" +
         std::to_string(info.param.workers) + "_workers" +
         (info.param.compressed ? "_compressed" : "");
}

class Resume : public testing::TestWithParam<ResumeCase> {};

TEST_P(Resume, AfterSigkillEqualsAnUninterruptedRun) {
  expect_killed_equals_uninterrupted(GetParam(), 3, 42);
}

INSTANTIATE_TEST_SUITE_P(
    Models, Resume,
    testing::Values(ResumeCase{"xresnet18", 1, 1}, ResumeCase{"xresnet18", 2, 4},
                    ResumeCase{"mnist_net", 1, 4}, ResumeCase{"mnist_net", 2, 1},
                    ResumeCase{"mnist_net", 2, 4, true}, ResumeCase{"mnist_net", 4, 1}),
    case_name);

class LongResume : public testing::TestWithParam<ResumeCase> {};

TEST_P(LongResume, AfterTenSigkillsEqualsAnUninterruptedRun) {
  if (!long_tests()) GTEST_SKIP() << kOnlyLong;
  expect_killed_equals_uninterrupted(GetParam(), 10, 119);
}

INSTANTIATE_TEST_SUITE_P(
    Models, LongResume,
    testing::Values(ResumeCase{"xresnet18", 1, 1}, ResumeCase{"xresnet18", 1, 4},
                    ResumeCase{"xresnet18", 2, 1}, ResumeCase{"xresnet18", 2, 4},
                    ResumeCase{"xresnet18", 4, 1}, ResumeCase{"xresnet18", 4, 4},
                    ResumeCase{"mnist_net", 1, 1}, ResumeCase{"mnist_net", 1, 4},
                    ResumeCase{"mnist_net", 2, 1}, ResumeCase{"mnist_net", 2, 4},
                    ResumeCase{"mnist_net", 4, 1}, ResumeCase{"mnist_net", 4, 4}),
    case_name);

TEST(Resume, AfterCtrlCSavesAndGoesOn) {
  const Folder folder;
  write_weighted_recipe(folder);
  const auto start = words({"mnist_net", 2, 1}, 30);
  ASSERT_EQ(run(start, folder.path(), patient_environment()).code, 0);
  Program cut(start, folder.path(), patient_environment());
  wait_for_step(cut, 4);
  cut.signal(SIGINT);
  const auto ended = cut.wait();
  EXPECT_EQ(ended.code, 128 + SIGINT) << ended.err;
  EXPECT_TRUE(processes_with(folder.path()).empty());
  ASSERT_EQ(run({"resume", "runs/small/002", "-v"}, folder.path(), patient_environment()).code, 0);
  expect_equal_runs(folder / "runs/small/001", folder / "runs/small/002", {"mnist_net", 2, 1}, 30);
}

TEST(Resume, RefusesACheckpointWithAFlippedBitAndTakesTheOneBefore) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  ASSERT_EQ(
      run({"run", "small.yaml", "checkpoint.every=4 steps"}, folder.path(), patient_environment())
          .code,
      0);
  const auto newest = folder / "runs/small/001/checkpoints/step-00000008/model.safetensors";
  auto bytes = read(newest);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write(newest, bytes);
  const auto resumed = run({"resume", "runs/small/001", "train.duration=10 steps"}, folder.path(),
                           patient_environment());
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, testing::HasSubstr("warning: the checkpoint '" +
                                              folder / "runs/small/001/checkpoints/step-00000008" +
                                              "' is not used: '"));
  EXPECT_THAT(resumed.err,
              testing::HasSubstr("/model.safetensors' is damaged: its checksums are not those of "
                                 "MANIFEST.json (tensor '"));
}

TEST(Resume, OfAnotherModelNamesTheTensor) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  ASSERT_EQ(run({"run", "small.yaml", "model={type: resnet18, num_classes: auto}",
                 "train.duration=2 steps"},
                folder.path(), patient_environment())
                .code,
            0);
  const auto resumed =
      run({"resume", "runs/small/001", "model.type=mnist_net", "train.duration=10 steps"},
          folder.path(), patient_environment());
  EXPECT_EQ(resumed.code, 3) << resumed.err;
  EXPECT_THAT(resumed.err,
              testing::HasSubstr("error: the model does not fit what was saved: 'conv1.weight' has "
                                 "shape [64, 3, 7, 7] there and [32, 3, 3, 3] here; "));
}

TEST(Resume, SaysWhatChangedAndRefusesEpochsOfAnotherLength) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  ASSERT_EQ(
      run({"run", "small.yaml", "optimizer.momentum=0.9"}, folder.path(), patient_environment())
          .code,
      0);
  const auto longer = run({"resume", "runs/small/001", "train.duration=10 steps"}, folder.path());
  EXPECT_EQ(longer.code, 0) << longer.err;
  EXPECT_THAT(longer.err,
              testing::HasSubstr("changed: train.duration: 8 steps -> 10 steps (the schedule is "
                                 "recomputed, and continues at the current step)\n"));
  const auto other = run(
      {"resume", "runs/small/001", "batch.global=4", "batch.micro=auto", "train.duration=12 steps"},
      folder.path());
  EXPECT_EQ(other.code, 3) << other.err;
  EXPECT_THAT(
      other.err,
      testing::HasSubstr("error: the run cannot go on from this checkpoint: its epochs are 7 steps "
                         "of 16 samples, and they would be 30 of 4 (batch.global, data)\n"));
  const auto adam = run(
      {"resume", "runs/small/001", "optimizer={type: adam, lr: 1e-3}", "train.duration=12 steps"},
      folder.path());
  EXPECT_EQ(adam.code, 3) << adam.err;
}

}  // namespace
}  // namespace ddptrain::end_to_end
