// Devices of machines that this one is not: simulated ones, and GPUs whose driver is a fake.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "end_to_end/ranks/machines.h"

namespace ddptrain::end_to_end {
namespace {

using testing::HasSubstr;
using testing::Not;
int times(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::vector<std::string> short_run(const std::string& device) {
  return {"run",
          "small.yaml",
          kSmallModel,
          "parallel.device=" + device,
          "output.dir=runs",
          "train.duration=2 steps"};
}

class Device : public testing::Test {
 protected:
  Device() { write(folder_ / "small.yaml", small_recipe()); }
  Ended run_in(const std::vector<std::string>& words, const Variables& variables) {
    return Program(words, folder_.path(), variables).wait();
  }
  Folder folder_;
};

TEST_F(Device, ThatIsSimulatedTrains) {
  const auto ended = run_in(short_run("simulated"), simulating());
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(
      ended.err,
      testing::ContainsRegex(
          "\nstep [0-9]+  epoch [0-9.]+  valid/loss [0-9.]+  valid/accuracy [01]\\.[0-9]+\n"));
}

TEST_F(Device, ThatIsSimulatedShowsTheSamplesOfTheCpu) {
  auto words = short_run("simulated");
  for (const auto* option : {"parallel.mode=ddp", "parallel.devices=2"}) words.emplace_back(option);
  ASSERT_EQ(run_in(words, simulating()).code, 0);
  ASSERT_EQ(run_in(short_run("cpu"), simulating()).code, 0);
  const auto rows_of = [&](const char* run) {
    return nlohmann::json::parse(read(folder_ / run + std::string("/samples.json"))).at("rows");
  };
  const auto rows = rows_of("runs/small/001"), expected = rows_of("runs/small/002");
  ASSERT_EQ(rows.size(), 40U);
  ASSERT_EQ(expected.size(), 40U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i][0], expected[i][0]);                               // index
    EXPECT_NEAR(double(rows[i][1]), double(expected[i][1]), 1e-4) << i;  // loss
    EXPECT_EQ(rows[i][2], expected[i][2]);                               // truth
  }
}

TEST_F(Device, ThatIsSimulatedTrainsInTwoRanks) {
  auto words = short_run("simulated");
  words.insert(words.end(), {"model={type: resnet18, num_classes: auto}", "parallel.mode=ddp",
                             "parallel.devices=2", "parallel.sync_bn=true"});
  const auto ended = run_in(words, simulating());
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST_F(Device, IsSimulatedInTestsAlone) {
  const auto ended = run_in(short_run("simulated"), with({}));
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err, HasSubstr("command line:2: error[bad-value]: parallel.device: 'simulated' "
                                   "is not one of auto, cpu, cuda\n"));
}

// LibTorch asks once for CUDA's hooks, and the convolution that counts a body's features does it.
TEST_F(Device, IsOpenBeforeAModelComputes) {
  auto words = short_run("simulated");
  words.push_back("model={type: vision_learner, body: resnet18, num_classes: auto}");
  const auto watched = test::build_folder() + "/libhook_watch.so";
  const auto ended = run_in(words, simulating({{"LD_PRELOAD", watched}}));
  EXPECT_EQ(ended.code, 0) << ended.err;
}

TEST_F(Device, OfAutoIsTheCpuWithOneWarningWhereCudaDoesNotWork) {
  const auto ended = run_in(short_run("auto"), with_fake_gpu());
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(times(ended.err, "parallel.device auto is the CPU here"), 1) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("CUDA cannot be used: "));
}

TEST_F(Device, OfCudaThatDoesNotWorkIsRefusedInOneLine) {
  const auto ended = run_in(short_run("cuda"), with_fake_gpu());
  EXPECT_EQ(ended.code, 4) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("'cuda' was asked for, and CUDA cannot be used: "));
  EXPECT_THAT(ended.err, Not(HasSubstr("frame #")));
  EXPECT_FALSE(exists(folder_ / "runs"));
}

TEST_F(Device, ThatHasNoDeterministicKernelIsAnErrorOfTheRecipe) {
  auto words = short_run("simulated");
  words.insert(words.end(), {"model={type: vision_learner, body: resnet18, num_classes: auto}",
                             "train.deterministic=true"});
  const auto ended = run_in(words, simulating());
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("train.deterministic: adaptive_max_pool2d_backward_cuda has no "
                                   "deterministic implementation"));
}

// What `auto` comes to on devices that have bf16 and gain by NHWC is in the run's recipe.
TEST_F(Device, DecidesWhatARecipeLeavesOpen) {
  auto words = short_run("simulated");
  words.push_back("train.precision=auto");
  const auto resolved = [&](const std::string& folder, const Variables& variables) {
    words.push_back("output.dir=" + folder);
    const auto ended = run_in(words, variables);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return read(folder_ / (folder + "/small/001/recipe.yaml"));
  };
  const auto modern =
      resolved("modern", simulating({{"DDPTRAIN_SIMULATED_TRAITS", "bf16 channels_last"}}));
  EXPECT_THAT(modern, HasSubstr("\n  precision: bf16  # auto\n"));
  EXPECT_THAT(modern, HasSubstr("\n  channels_last: true  # auto\n"));
  const auto old = resolved("old", simulating());
  EXPECT_THAT(old, HasSubstr("\n  precision: fp32  # auto\n"));
  EXPECT_THAT(old, HasSubstr("\n  channels_last: false  # auto\n"));
}

TEST_F(Device, ThatIsOutOfMemorySaysSo) {
  const auto ended =
      run_in(short_run("simulated"), simulating({{"DDPTRAIN_SIMULATED_MEMORY", "65536"}}));
  EXPECT_EQ(ended.code, 7) << ended.err;
}

}  // namespace
}  // namespace ddptrain::end_to_end
