// Runs on devices whose optimizer's state is in the host's memory: the files and resumes of runs
// that have it on the device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "end_to_end/checkpoints/weights_of_runs.h"
#include "end_to_end/ranks/machines.h"

namespace ddptrain::end_to_end {
namespace {

class OffloadedRuns : public testing::TestWithParam<std::string> {
 protected:
  OffloadedRuns() { write(folder_ / "small.yaml", small_recipe()); }
  void start(std::vector<std::string> words) {
    const auto ended = Program(words, folder_.path(), simulating()).wait();
    ASSERT_EQ(ended.code, 0) << ended.err;
  }
  /// Six steps on two devices.
  void start_anew(const std::string& offload, const std::string& runs) {
    start({"run", "small.yaml", "model={type: xresnet18, stem: [4, 4, 8], widen: 0.125}",
           "parallel.mode=" + GetParam(), "parallel.devices=2", "parallel.device=simulated",
           "parallel.shard.offload=" + offload, "output.dir=" + runs, "batch.global=24",
           "optimizer={type: adamw, lr: 1e-2}", "train.duration=6 steps", "train.ema.decay=0.9",
           "checkpoint={every: 3 steps, keep_last: 9}"});
  }
  std::map<std::string, std::string> last_files(const std::string& run) const {
    std::map<std::string, std::string> all;
    const auto home = folder_ / (run + "/checkpoints/step-00000006/");
    for (const auto& name : list(home))
      if (name.ends_with(".safetensors")) all[name] = read(home + name);
    return all;
  }
  Folder folder_;
};

TEST_P(OffloadedRuns, HaveTheFilesOfOthersAndResumeAsTheyDo) {
  start_anew("none", "near");
  start_anew("optimizer", "far");
  const auto expected = last_files("near/small/001");
  ASSERT_TRUE(expected.contains("optimizer.safetensors"));
  EXPECT_TRUE(last_files("far/small/001") == expected);
  for (const auto& [runs, other] : {std::pair("near", "optimizer"), std::pair("far", "none")}) {
    start({"resume", std::string(runs) + "/small/001", "--checkpoint", "step-00000003",
           std::string("parallel.shard.offload=") + other});
    EXPECT_TRUE(last_files(std::string(runs) + "/small/002") == expected) << runs;
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, OffloadedRuns, testing::Values("zero1", "zero2", "fsdp"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace ddptrain::end_to_end
