// Runs of the program on the stand-in for CUDA, from their start to their end, and what ends them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "end_to_end/devices/jpeg_recipe.h"
#include "on_stand_in/stand_in_run.h"

namespace ddptrain::end_to_end {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class OnTheStandIn : public ::testing::Test {
 protected:
  void SetUp() override {
    if (stand_in_folder().empty()) GTEST_SKIP() << kNoStandIn;
    recipe_ = folder_ / "small.yaml";
    write(recipe_, small_recipe());
  }

  StandInRun start(const std::vector<std::string>& words, int gpus,
                   std::map<std::string, std::string> variables = {}) {
    variables.merge(environment());
    auto run = on_stand_in(words, gpus, variables);
    EXPECT_EQ(run.faults, "");
    return run;
  }
  /// Ten steps in bfloat16 and NHWC, with a checkpoint after every fourth.
  std::vector<std::string> ten_steps(const std::string& mode, int gpus) const {
    return {"run",
            recipe_,
            "parallel.device=cuda",
            "parallel.mode=" + mode,
            "parallel.devices=" + std::to_string(gpus),
            "train.precision=bf16",
            "train.channels_last=true",
            "train.duration=10 steps",
            "eval.every=5 steps",
            "checkpoint={every: 4 steps, keep_last: 9}",
            "output.dir=" + folder_ / "runs"};
  }
  std::string run_folder() const { return folder_ / "runs/small/001"; }

  Folder folder_;
  std::string recipe_;
};

class ModesOnTheStandIn : public OnTheStandIn,
                          public ::testing::WithParamInterface<std::pair<const char*, int>> {};

TEST_P(ModesOnTheStandIn, TrainSaveResumeScoreAndPredict) {
  const auto [mode, gpus] = GetParam();
  auto run = start(ten_steps(mode, gpus), gpus);
  ASSERT_EQ(run.ended.code, 0) << run.ended.err;
  if (std::string(mode) != "dp") {
    EXPECT_EQ(collectives_that_differ(run), "");
  }
  const auto last = run_folder() + "/checkpoints/step-00000010";
  ASSERT_TRUE(exists(last));
  std::filesystem::remove_all(last);
  run = start({"resume", run_folder()}, gpus);
  EXPECT_EQ(run.ended.code, 0) << run.ended.err;
  EXPECT_TRUE(exists(last));
  EXPECT_EQ(start({"eval", run_folder()}, gpus).ended.code, 0);
  EXPECT_EQ(start({"predict", run_folder(), shapes() + "/val"}, gpus).ended.code, 0);
}

// Rank 1 of four shares a group with rank 0, which calls two others; then a rank is missing.
TEST(CollectivesOfTheStandIn, AreThoseThatRanksShare) {
  const std::string all = "ncclAllReduce of group 7.1 of 4 ranks, 8 numbers of type 7\n",
                    even = "ncclAllReduce of group 7.2 of 2 ranks, 3 numbers of type 7\n",
                    odd = "ncclAllReduce of group 8.1 of 2 ranks, 5 numbers of type 7\n";
  StandInRun run;
  run.collectives = {all + even, all + odd, all + even, all + odd};
  EXPECT_EQ(collectives_that_differ(run), "");
  run.collectives[3] = odd + all;
  EXPECT_EQ(collectives_that_differ(run),
            "ncclAllReduce of group 7.1 of 4 ranks, 8 numbers of type 7 | "
            "ncclAllReduce of group 8.1 of 2 ranks, 5 numbers of type 7");
  run.collectives[3] = all;
  EXPECT_EQ(collectives_that_differ(run),
            "ncclAllReduce of group 8.1 of 2 ranks, 5 numbers of type 7 | only 1");
}

INSTANTIATE_TEST_SUITE_P(Modes, ModesOnTheStandIn,
                         ::testing::Values(std::pair("none", 1), std::pair("ddp", 2),
                                           std::pair("dp", 2), std::pair("zero1", 2),
                                           std::pair("zero2", 2), std::pair("fsdp", 2)),
                         [](const auto& mode) { return std::string(mode.param.first); });

// The last batch of an epoch gives rank 0 as many rows as a full one, and rank 1 fewer: NCCL wants
// a collective of all ranks to be captured by all of them or by none.
TEST_F(OnTheStandIn, RanksReplayTheirGraphsTogether) {
  const auto data = folder_ / "data";
  std::filesystem::copy(shapes(), data, std::filesystem::copy_options::recursive);
  const auto some_class = *std::filesystem::directory_iterator(data + "/train");
  std::filesystem::remove(*std::filesystem::directory_iterator(some_class));
  auto words = ten_steps("ddp", 2);
  words.insert(words.end(), {"batch.global=8", "data.loader.drop_last=false",
                             "train.duration=32 steps", "data.root=" + data});
  const auto run = start(words, 2);
  ASSERT_EQ(run.ended.code, 0) << run.ended.err;
  EXPECT_EQ(collectives_that_differ(run), "");
  for (const auto& process : run.steps) EXPECT_GT(process.back().at("graph_launches"), 0);
}

// It says so on its own device alone; a graph of the other rank would wait for its collectives.
TEST_F(OnTheStandIn, RanksHaveNoGraphsWhereOneCannotCapture) {
  const auto run = start(ten_steps("ddp", 2), 2, {{"STAND_IN_FAIL_CAPTURES", "1"}});
  ASSERT_EQ(run.ended.code, 0) << run.ended.err;
  EXPECT_THAT(run.ended.err, HasSubstr("another rank cannot capture it"));
  EXPECT_EQ(collectives_that_differ(run), "");
  ASSERT_EQ(run.steps.size(), 2U);
  for (const auto& process : run.steps) {
    EXPECT_GT(process.back().at("captures"), 0);
    EXPECT_EQ(process.back().at("graph_launches"), 0);
  }
}

TEST_F(OnTheStandIn, ADeviceWithoutMemoryEndsTheRunWithTheExitCodeOfMemory) {
  const auto run = start(ten_steps("none", 1), 1, {{"STAND_IN_MEMORY", "25000000"}});
  EXPECT_EQ(run.ended.code, 7) << run.ended.err;
  EXPECT_THAT(run.ended.err, AllOf(HasSubstr("out of memory"), Not(HasSubstr("frame #"))));
}

// Among its first kernels, and while it replays graphs.
TEST_F(OnTheStandIn, ADeviceThatIsLostEndsAllRanksAndTheFailingOneIsNamed) {
  for (const auto& [after, has_graphs] : {std::pair("1:200", false), std::pair("1:3000", true)}) {
    const auto run = start(ten_steps("ddp", 2), 2, {{"STAND_IN_FAIL", after}});
    EXPECT_EQ(run.ended.code, 4) << run.ended.err;
    EXPECT_THAT(run.ended.err,
                AllOf(HasSubstr("rank 1: "), HasSubstr("CUDA error: unspecified launch failure"),
                      Not(HasSubstr("frame #"))));
    std::int64_t graphs = 0;
    for (const auto& process : run.steps) graphs += process.back().at("graph_launches");
    EXPECT_EQ(graphs > 0, has_graphs) << after;
  }
}

// CUDA shows what a list has up to a number of no device.
TEST_F(OnTheStandIn, GpusAreThoseThatCudaShows) {
  auto words = ten_steps("ddp", 2);
  const auto run = start(words, 4, {{"CUDA_VISIBLE_DEVICES", "0,-1,1"}});
  EXPECT_EQ(run.ended.code, 4) << run.ended.err;
  EXPECT_THAT(run.ended.err, HasSubstr("this machine shows 1"));
}

// The stand-in decodes by libjpeg: the images in inks are not given to it.
TEST_F(OnTheStandIn, NvjpegDecodesTrainingImagesOnEveryRank) {
  write_jpeg_recipe(folder_);
  for (const int gpus : {1, 2}) {
    const auto run = start({"run", folder_ / "jpegs.yaml", "data.root=" + (folder_ / "images"),
                            "parallel.device=cuda", "parallel.devices=" + std::to_string(gpus),
                            std::string("parallel.mode=") + (gpus == 1 ? "none" : "ddp"),
                            "data.decode_device=gpu", "output.dir=" + (folder_ / "runs")},
                           gpus);
    EXPECT_EQ(run.ended.code, 0) << run.ended.err;
    std::int64_t to_host = 0;
    for (const auto& process : run.steps) to_host += process.back().at("to_host");
    EXPECT_GE(to_host, 18) << "three of four images of six batches";
  }
}

// Every seed gives copies other times to run at.
TEST_F(OnTheStandIn, CopiesMayRunAtAnyTime) {
  for (const auto* seed : {"2", "3", "4"}) {
    const auto run = start(ten_steps("none", 1), 1, {{"STAND_IN_SEED", seed}});
    EXPECT_EQ(run.ended.code, 0) << run.ended.err;
  }
}

}  // namespace
}  // namespace ddptrain::end_to_end
