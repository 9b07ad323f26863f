// Images with masks, from synthetic data to predictions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

using testing::HasSubstr;

/// A network that keeps height and width: each pixel gets a class, of what is around it.
std::string masks_recipe() {
  return R"(recipe: 1
name: masks
model:
  type: sequential
  layers:
    - {type: conv, out: 8, kernel: 3, padding: 1}
    - relu
    - {type: dropout, p: 0.2}
    - {type: conv, out: 4, kernel: 3, padding: 1}
data:
  type: image_masks
  root: masks
  codes: codes.txt
  void: ["255"]
  valid: images/val
  transforms:
    train:
      - {type: random_crop, size: 24, padding: 4}
      - {type: horizontal_flip, p: 0.5}
    valid: [{type: resize, size: 24}]
  loader: {drop_last: false}
batch: {global: 8}
train: {duration: 2 epochs, precision: fp64}
loss: {type: cross_entropy, ignore_index: 255}
metrics: [accuracy]
optimizer: {type: adamw, lr: 1e-2}
eval: {batch: 4}
log: {tensorboard: false}
checkpoint: {every: 1 step, keep_last: 10}
)";
}

class SegmentedScenes : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder;
    const auto made =
        run({"data", "make", "masks", "masks", "--train", "19", "--val", "6", "--size", "32"},
            folder_->path());
    ASSERT_EQ(made.code, 0) << made.err;
    write(*folder_ / "masks.yaml", masks_recipe());
  }
  static void TearDownTestSuite() { delete folder_; }

  static Ended ddptrain(const std::vector<std::string>& words) {
    return run(words, folder_->path());
  }
  /// Of the last row of a run's metrics.csv, with more overrides than the recipe's.
  static std::string scores(const std::string& name, std::vector<std::string> overrides) {
    overrides.insert(overrides.begin(), {"run", "masks.yaml", "name=" + name});
    const auto ended = ddptrain(overrides);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return read(*folder_ / ("runs/" + name + "/001/metrics.csv"));
  }

  static Folder* folder_;
};
Folder* SegmentedScenes::folder_ = nullptr;

/// Numbers of the columns that do not tell time.
std::vector<double> numbers_in(const std::string& csv) {
  std::vector<double> numbers;
  std::vector<std::string> titles;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream cells(line);
    std::vector<std::string> row;
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
    if (titles.empty()) {
      titles = row;
      continue;
    }
    for (std::size_t i = 0; i < row.size(); ++i)
      if (titles[i].find("valid/") == 0) numbers.push_back(std::stod(row[i]));
  }
  return numbers;
}

TEST_F(SegmentedScenes, TrainAlikeOnAnyNumberOfReplicasAndRanks) {
  const auto alone = numbers_in(scores("alone", {"parallel.mode=none"}));
  ASSERT_FALSE(alone.empty());
  const std::vector<std::vector<std::string>> others{
      {"parallel.mode=dp", "parallel.device=cpu", "parallel.devices=2"},
      {"parallel.mode=ddp", "parallel.device=cpu", "parallel.devices=2"}};
  for (const auto& how : others) {
    const auto split = numbers_in(scores(how[0].substr(14) + "2", how));
    ASSERT_EQ(split.size(), alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(split[i], alone[i], 1e-9) << how[0];
  }
}

TEST_F(SegmentedScenes, GoOnFromTheMiddleOfAnEpochToTheSameWeights) {
  scores("whole", {});
  ASSERT_EQ(ddptrain({"run", "masks.yaml", "name=cut", "train.duration=4 steps"}).code, 0);
  const auto ended = ddptrain({"resume", "runs/cut/001", "train.duration=2 epochs"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const std::string last = "/001/checkpoints/step-00000006/model.safetensors";
  EXPECT_EQ(read(*folder_ / ("runs/cut" + last)), read(*folder_ / ("runs/whole" + last)));
}

TEST_F(SegmentedScenes, ArePredictedAsFilesOfTheSizeOfTheirImages) {
  scores("predicted", {"eval.tta={n: 2}"});
  const auto refused = ddptrain({"predict", "runs/predicted/001", "masks/images/val"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("each prediction is a file: '--output FOLDER'"));
  const auto ended =
      ddptrain({"predict", "runs/predicted/001", "masks/images/val", "--output", "out"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(read(*folder_ / "out/predictions.csv"),
              HasSubstr("path,mask,error\nmasks/images/val/0000.png,0000.png,\n"));
  EXPECT_EQ(list(*folder_ / "out").size(), 7U);
  const auto mask = read(*folder_ / "out/0005.png");
  EXPECT_EQ(mask.substr(1, 3), "PNG");
  EXPECT_EQ(mask[19], 32) << "width";
  EXPECT_EQ(mask[25], 3) << "with a palette";
}

TEST_F(SegmentedScenes, AreShownWithTheirMasks) {
  const auto ended = ddptrain({"data", "show", "masks.yaml", "--count", "4", "--output", "s.png"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(read(*folder_ / "s.png").substr(1, 3), "PNG");
}

TEST_F(SegmentedScenes, AreRefusedBeforeTheRunWhereAMaskIsMissing) {
  const auto ended = ddptrain({"run", "masks.yaml", "data.mask_name='{stem}_P.png'"});
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.err, HasSubstr("without a mask: 'images/train/0000.png' wants "
                                   "'masks/train/0000_P.png'"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
