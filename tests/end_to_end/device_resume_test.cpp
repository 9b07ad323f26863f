// Runs on a device that were interrupted end with the bits of those that were not, where what is
// trained or averaged changes on the way.
#include <gtest/gtest.h>

#include "machines.h"

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

}  // namespace
}  // namespace ddptrain::end_to_end
