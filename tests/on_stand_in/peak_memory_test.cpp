// What LibTorch's allocator reserves for a run of each mode, next to what `plan` says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "on_stand_in/stand_in_run.h"

namespace ddptrain::end_to_end {
namespace {

/// 397 words; texts of 8 tokens for a GPT-2 with 144 MiB of weights, and Adam.
constexpr const char* kGpt2 = R"(recipe: 1
name: gpt2
model: {type: gpt2, n_layer: 12, n_head: 4, n_embd: 512, n_positions: 16}
data:
  type: text_folder
  root: texts
  task: language_model
  valid: valid
  vocabulary: {min_freq: 1}
  blocks: {layout: shuffled, length: 8}
batch: {global: 4}
train: {duration: 4 steps, graph: false}
loss: {type: cross_entropy}
optimizer: {type: adamw, lr: 2e-3}
eval: {every: 100 steps}
parallel: {mode: fsdp, devices: 2}
log: {every: 1 step}
)";

class PeakOnTheStandIn : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (stand_in_folder().empty()) GTEST_SKIP() << kNoStandIn;
    std::string text;
    for (int i = 0; i < 400; ++i) text += "word" + std::to_string(i % 397) + " ";
    for (const auto* split : {"train", "valid"}) {
      std::filesystem::create_directories((folder_ / "texts/") + split);
      write((folder_ / "texts/") + split + "/1.txt", text);
    }
    write(folder_ / "gpt2.yaml", kGpt2);
  }

  /// Bytes that `plan` says each device has at most.
  double planned() const {
    const auto plan = Program({"plan", "gpt2.yaml"}, folder_.path()).wait();
    EXPECT_EQ(plan.code, 0) << plan.err;
    std::smatch found;
    if (!std::regex_search(plan.out, found, std::regex(GetParam() + " ([0-9.]+) MiB")))
      ADD_FAILURE() << plan.out;
    return std::stod(found[1]) * (1 << 20);
  }
  /// The most that the run says its device had.
  double reserved() const {
    double most = 0;
    std::istringstream lines(read(folder_ / "runs/gpt2/001/events.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const auto event = nlohmann::json::parse(line);
      if (event.contains("device_memory"))
        most = std::max(most, event["device_memory"]["peak_reserved"].get<double>());
    }
    return most;
  }

  Folder folder_;
};

// Workspaces of cuBLAS, whose size LibTorch chooses by the GPU, are made small.
TEST_P(PeakOnTheStandIn, IsWhatPlanSays) {
  const auto run = on_stand_in(
      {"run", folder_ / "gpt2.yaml", "data.root=" + (folder_ / "texts"), "parallel.device=cuda",
       "parallel.mode=" + GetParam(), "output.dir=" + (folder_ / "runs")},
      2, {{"CUBLAS_WORKSPACE_CONFIG", ":16:8"}});
  ASSERT_EQ(run.ended.code, 0) << run.ended.err;
  EXPECT_EQ(run.faults, "");
  EXPECT_EQ(collectives_that_differ(run), "");
  EXPECT_GE(reserved(), planned());
  EXPECT_LE(reserved(), 1.1 * planned());
}

INSTANTIATE_TEST_SUITE_P(Modes, PeakOnTheStandIn,
                         ::testing::Values("ddp", "zero1", "zero2", "fsdp"),
                         [](const auto& mode) { return mode.param; });

}  // namespace
}  // namespace ddptrain::end_to_end
