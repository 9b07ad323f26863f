// Runs whose ranks share weights, gradients and optimizer state: files and resumes are those of
// ddp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "end_to_end/checkpoints/weights_of_runs.h"

namespace ddptrain::end_to_end {
namespace {

/// Blocks with batch norm, dropout of none, an average; twelve steps of 24 images.
std::vector<std::string> twelve_steps(const std::vector<std::string>& more) {
  std::vector<std::string> words{"run",
                                 "small.yaml",
                                 "model={type: xresnet18, stem: [4, 4, 8], widen: 0.125}",
                                 "parallel.sync_bn=true",
                                 "batch.global=24",
                                 "optimizer={type: adamw, lr: 1e-2}",
                                 "train.ema.decay=0.9",
                                 "train.clip={type: norm, max: 1}",
                                 "train.duration=12 steps",
                                 "train.threads=1",
                                 "checkpoint={every: 3 steps, keep_last: 9}"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

class ShardedRuns : public testing::Test {
 protected:
  ShardedRuns() { write(folder_ / "small.yaml", small_recipe()); }
  void start(const std::vector<std::string>& words) {
    const auto ended = run(words, folder_.path(), environment());
    ASSERT_EQ(ended.code, 0) << ended.err;
  }
  Weights last(const std::string& run) const {
    return weights_of(folder_ / (run + "/checkpoints/step-00000012"));
  }
  void expect_the_files_of_ddp(const std::vector<std::string>& words,
                               const std::string& where = "") {
    const auto ddp = files_of("ddp", words, where);
    ASSERT_TRUE(ddp.contains("optimizer.safetensors"));
    for (const auto* mode : {"zero1", "zero2", "fsdp"}) {
      const auto files = files_of(mode, words, where);
      EXPECT_EQ(files.size(), ddp.size());
      for (const auto& [name, bytes] : files) EXPECT_TRUE(bytes == ddp.at(name)) << mode << name;
    }
  }
  std::map<std::string, std::string> files_of(const std::string& mode,
                                              const std::vector<std::string>& words,
                                              const std::string& where) {
    auto all_words =
        twelve_steps({"parallel.mode=" + mode, "parallel.devices=3", "parallel.sums=ordered"});
    all_words.insert(all_words.end(), words.begin(), words.end());
    all_words.push_back("output.dir=" + where + mode);
    start(all_words);
    std::map<std::string, std::string> all;
    const auto home = folder_ / (where + mode + "/small/001/checkpoints/step-00000012/");
    for (const auto& name : list(home))
      if (name.ends_with(".safetensors")) all[name] = read(home + name);
    return all;
  }
  Folder folder_;
};

// In double all modes are equal up to rounding, so a run may change its mode and ranks on the way.
TEST_F(ShardedRuns, GoOnInAnyModeOnAnyNumberOfRanks) {
  start(twelve_steps({"parallel.mode=ddp", "parallel.devices=2", "train.precision=fp64"}));
  start({"resume", "runs/small/001", "--checkpoint", "step-00000003", "parallel.mode=zero1",
         "parallel.devices=3"});
  start({"resume", "runs/small/002", "--checkpoint", "step-00000006", "parallel.mode=fsdp",
         "parallel.devices=4"});
  start({"resume", "runs/small/003", "--checkpoint", "step-00000009", "parallel.mode=zero2",
         "parallel.devices=2"});
  EXPECT_LT(difference(last("runs/small/004"), last("runs/small/001")), 1e-9);
}

// With ordered sums they are equal in fp32 as well, and so are the bytes of their checkpoints.
TEST_F(ShardedRuns, WriteTheFilesOfDdp) { expect_the_files_of_ddp({}); }

// Of weights whose memory is in another order than the file's, and of an optimizer that has whole
// parameters, in groups that are not in the model's order.
TEST_F(ShardedRuns, WriteTheFilesOfDdpOfWholeAndStridedParameters) {
  expect_the_files_of_ddp({"optimizer={type: muon, lr: 0.001}", "train.ema={decay: 0.9}",
                           "train.channels_last=true", "batch.global=15"});
  expect_the_files_of_ddp({"train.ema={decay: 0.9}", "train.channels_last=true", "batch.global=15"},
                          "sgd/");
}

// Rows of the last layer go by the names of classes, of which one is new; other ranks have pieces
// of the rows that it keeps.
TEST_F(ShardedRuns, TakeRowsByNameAsDdpDoes) {
  start(twelve_steps({"data.classes=[arrow, circle, cross, heart]", "name=before"}));
  expect_the_files_of_ddp({"data.classes=[cross, arrow, star]",
                           "model.weights=runs/before/001/checkpoints/step-00000012"});
}

TEST_F(ShardedRuns, RefuseGroupsThatDoNotDivideTheRanks) {
  const auto refused = run({"validate", "small.yaml", "parallel.mode=fsdp", "parallel.devices=4",
                            "parallel.shard.group=3"},
                           folder_.path(), environment());
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.out + refused.err,
              testing::HasSubstr("4 ranks cannot be divided into groups of 3"));
}

TEST_F(ShardedRuns, InGroupsFollowThoseOfAll) {
  start(twelve_steps({"parallel.mode=ddp", "parallel.devices=4", "train.precision=fp64"}));
  start(twelve_steps({"parallel.mode=fsdp", "parallel.devices=4", "train.precision=fp64",
                      "parallel.shard.group=2"}));
  EXPECT_LT(difference(last("runs/small/002"), last("runs/small/001")), 1e-9);
}

}  // namespace
}  // namespace ddptrain::end_to_end
