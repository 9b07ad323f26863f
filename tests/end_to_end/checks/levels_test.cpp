// `validate --level`: what a recipe names is looked at without a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "end_to_end/program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

using testing::HasSubstr;

const std::string kRecipe = test::in_source("configs/quickstart.yaml");

Ended validated(const Folder& folder, const std::string& level,
                std::vector<std::string> more = {}) {
  std::vector<std::string> words{"validate", kRecipe, "--level", level, "data.root=" + shapes()};
  words.insert(words.end(), more.begin(), more.end());
  return Program(words, folder.path()).wait();
}

TEST(Level, StepTrainsOnceOnTheDevicesAndLeavesNothingBehind) {
  const Folder folder;
  const auto result = validated(folder, "step");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(
      result.err,
      HasSubstr(": data: 120 training samples, 40 held out, 10 classes; 20 samples read\n"));
  EXPECT_THAT(
      result.err,
      testing::ContainsRegex(
          ": model: 2 x 3 x 64 x 64 to 2 x 10, targets 2, loss [0-9.]+; 539178 parameters, 8\\.2 "
          "MiB of weights, gradients and optimizer, 1\\.4 MiB of activations a sample\n"));
  EXPECT_THAT(result.err,
              HasSubstr(": step: global 64 = micro 16 x accumulate 2 x 2 devices on the CPU; one "
                        "step, one evaluation batch, a checkpoint written and read\n"));
  EXPECT_THAT(result.out, testing::EndsWith("configs/quickstart.yaml: good\n"));
  EXPECT_FALSE(exists(folder / "runs"));
}

TEST(Level, RulesTouchesNoOtherFile) {
  const Folder folder;
  const auto result = validated(folder, "rules", {"data.root=/nowhere"});
  EXPECT_EQ(result.code, 0) << result.err;
}

TEST(Level, DataThatAreNotThereAreExitThree) {
  const Folder folder;
  const auto result = validated(folder, "data", {"data.root=/nowhere"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(
      result.err,
      HasSubstr("command line:2: error[data-level]: data.root: '/nowhere' is not there; put the "
                "data there, write where they are, or name an archive under data.source\n"));
}

TEST(Level, DataReadsASampleOfEveryClass) {
  const Folder folder;
  std::filesystem::copy(shapes(), folder / "pictures", std::filesystem::copy_options::recursive);
  std::string first;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "pictures/train"))
    if (first.empty() || entry.path().string() < first) first = entry.path();
  std::filesystem::path broken;
  for (const auto& entry : std::filesystem::directory_iterator(first))
    if (broken.empty() || entry.path() < broken) broken = entry.path();
  write(broken, "no image");
  const auto result = validated(folder, "data", {"data.root=" + (folder / "pictures")});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, HasSubstr(broken.filename().string()));
}

TEST(Level, DataSaysThatABatchIsLargerThanThem) {
  const Folder folder;
  const auto result = validated(folder, "data", {"batch.global=100000"});
  EXPECT_EQ(result.code, 3) << result.out << result.err;
  EXPECT_THAT(result.err, HasSubstr("an epoch has no full batch: "));
}

// min_lr is below the rate of 64 samples a step, and above that of the two that are tried.
TEST(Level, TriesTheRatesOfTheRunsOwnBatch) {
  const Folder folder;
  for (const auto* level : {"model", "step"}) {
    const auto result = validated(folder, level,
                                  {"optimizer={type: sgd, lr: 0.01, lr_batch: 64}",
                                   "schedule={type: cyclic, min_lr: 0.005, up: 2 steps}"});
    EXPECT_EQ(result.code, 0) << result.err;
  }
}

TEST(Level, ModelSaysThatOutputsAreTooFew) {
  const Folder folder;
  const auto result = validated(folder, "model", {"model={type: resnet18, num_classes: 3}"});
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_THAT(result.err,
              HasSubstr("error[model-level]: loss: 'cross_entropy' wants an output for each of the "
                        "10 classes, and the model gives 3; write 'model.num_classes: auto'\n"));
}

TEST(Level, AnUnknownOneIsRefused) {
  const Folder folder;
  const auto result = validated(folder, "modle");
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("did you mean 'model'?"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
