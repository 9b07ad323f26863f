// Runs on a device that were interrupted end with the bits of those that were not, where what is
// trained or averaged changes on the way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "end_to_end/checkpoints/weights_of_runs.h"
#include "end_to_end/ranks/machines.h"

namespace ddptrain::end_to_end {
namespace {

struct Changing {
  std::string name, override;
};

void PrintTo(const Changing& run, std::ostream* out) { *out << run.name; }

class ResumedOnADevice : public testing::TestWithParam<Changing> {
 protected:
  ResumedOnADevice() { write(folder_ / "small.yaml", small_recipe()); }
  void start(const std::vector<std::string>& words) {
    const auto ended = Program(words, folder_.path(), simulating()).wait();
    ASSERT_EQ(ended.code, 0) << ended.err;
  }
  /// Files of a run's last checkpoint with their bytes.
  std::map<std::string, std::string> last_checkpoint(const std::string& run) const {
    const auto home = folder_ / (run + "/checkpoints/step-00000012/");
    std::map<std::string, std::string> files;
    for (const auto& name : list(home))
      if (name.ends_with(".safetensors")) files[name] = read(home + name);
    return files;
  }

  Folder folder_;
};

// Four steps an epoch: images and averages change after the checkpoint.
TEST_P(ResumedOnADevice, EndsWithTheBitsOfTheWholeRun) {
  start({"run", "small.yaml", "model={type: xresnet18, stem: [4, 4, 8], widen: 0.125}",
         "parallel.device=simulated", "batch.global=30", "train.duration=12 steps",
         "train.threads=1", "checkpoint={every: 3 steps, keep_last: 9}", "output.dir=runs",
         GetParam().override});
  const auto whole = last_checkpoint("runs/small/001");
  ASSERT_TRUE(whole.contains("model.safetensors"));
  start({"resume", "runs/small/001", "--checkpoint", "step-00000003", "output.dir=runs"});
  EXPECT_EQ(last_checkpoint("runs/small/002"), whole);
}

INSTANTIATE_TEST_SUITE_P(
    Runs, ResumedOnADevice,
    testing::Values(Changing{"averaged", "train.swa={start: 5 steps, every: 2 steps, lr: 0.02}"},
                    Changing{"resized",
                             "data.transforms.progressive=[{until: 1 epoch, size: 20}, "
                             "{until: 2 epochs, size: 28}]"}),
    [](const auto& run) { return run.param.name; });

void expect_close(const Folder& folder, const std::string& a, const std::string& b) {
  const auto last = [&](const std::string& run) {
    return weights_of(folder / (run + "/checkpoints/step-00000012"));
  };
  EXPECT_LT(difference(last(a), last(b)), 1e-4);  // of float32, after six steps
}

const std::vector<std::string> kTwelveSteps{"run",
                                            "small.yaml",
                                            "parallel.mode=ddp",
                                            "model={type: mlp, num_classes: auto, hidden: [8]}",
                                            "batch.global=24",
                                            "train.duration=12 steps",
                                            "checkpoint={every: 6 steps, keep_last: 9}"};

// The batch was one piece on one device, "micro: 24  # auto": four of 24 would be 96 samples.
TEST(ResumeOnOtherDevices, SharesTheSameBatchWithoutASecondWord) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  ASSERT_EQ(run(kTwelveSteps, folder.path(), environment()).code, 0);
  for (const auto* devices : {"4", "3"}) {
    const auto resumed =
        run({"resume", "runs/small/001", "--checkpoint", "step-00000006",
             std::string("parallel.devices=") + devices, "output.dir=on_" + std::string(devices)},
            folder.path(), environment());
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_THAT(
        resumed.err,
        testing::HasSubstr(
            "on other devices than before: the global batch (24), the order of samples, the "
            "precision and the learning rates stay; results are the same up to rounding\n"));
    EXPECT_THAT(resumed.err,
                testing::HasSubstr(std::string("changed: batch.micro: 24 -> ") +
                                   (devices[0] == '4' ? "6" : "8") +
                                   " (the same samples in each step; the last bits may differ)\n"));
    expect_close(folder, "on_" + std::string(devices) + "/small/001", "runs/small/001");
  }
}

// What was `auto` at first stays open in a run that was resumed.
TEST(ResumeOnOtherDevices, WorksAfterAResumeOnTheSameOnes) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  auto words = kTwelveSteps;
  words[5] = "train.duration=6 steps";
  ASSERT_EQ(run(words, folder.path(), environment()).code, 0);
  const auto longer =
      run({"resume", "runs/small/001", "train.duration=9 steps"}, folder.path(), environment());
  ASSERT_EQ(longer.code, 0) << longer.err;
  const auto resumed =
      run({"resume", "runs/small/001", "parallel.devices=2", "train.duration=12 steps"},
          folder.path(), environment());
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, testing::HasSubstr("changed: batch.micro: 24 -> 12 (the same samples in "
                                              "each step; the last bits may differ)\n"));
}

TEST(ResumeOnOtherDevices, NamesTheNumbersThatCanShareTheBatch) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  ASSERT_EQ(run(kTwelveSteps, folder.path(), environment()).code, 0);
  const auto refused = run({"resume", "runs/small/001", "--checkpoint", "step-00000006",
                            "parallel.devices=5", "output.dir=other"},
                           folder.path(), environment());
  EXPECT_EQ(refused.code, 2) << refused.err;
  EXPECT_THAT(refused.err,
              testing::HasSubstr("the global batch of this run, 24, cannot be shared evenly by 5 "
                                 "devices; these numbers can: 1, 2, 3, 4, 6, 8, 12, 24"));
}

TEST(ResumeOnOtherDevices, OfARunOnOneDeviceMakesRanksOfSeveral) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  auto words = kTwelveSteps;
  words.erase(words.begin() + 2);  // none
  ASSERT_EQ(run(words, folder.path(), environment()).code, 0);
  const auto resumed = run({"resume", "runs/small/001", "--checkpoint", "step-00000006",
                            "parallel.devices=2", "output.dir=two"},
                           folder.path(), environment());
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, testing::HasSubstr("changed: parallel.mode: none -> ddp (the same "
                                              "samples in each step; the last bits may differ)\n"));
  expect_close(folder, "two/small/001", "runs/small/001");
}

// Four devices were there, then three, of which two can share a batch of 16.
TEST(ResumeOnOtherDevices, TakesThoseThatAreThere) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  auto words = kTwelveSteps;
  words[4] = "batch.global=16";
  words.push_back("parallel.device=simulated");
  const auto whole =
      Program(words, folder.path(), simulating({{"DDPTRAIN_SIMULATED_COUNT", "4"}})).wait();
  ASSERT_EQ(whole.code, 0) << whole.err;
  const auto resumed =
      Program({"resume", "runs/small/001", "--checkpoint", "step-00000006", "output.dir=fewer"},
              folder.path(), simulating({{"DDPTRAIN_SIMULATED_COUNT", "3"}}))
          .wait();
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, testing::HasSubstr("changed: parallel.devices.count: 4 -> 2 (the same "
                                              "samples in each step; the last bits may differ)\n"));
  expect_close(folder, "fewer/small/001", "runs/small/001");
}

}  // namespace
}  // namespace ddptrain::end_to_end
