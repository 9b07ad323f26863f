// Models that classify pixels, from synthetic data to scores, however the work is divided.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

using testing::HasSubstr;

const std::string kBody = "body: {type: xresnet18, widen: 0.125, stem: [4, 4, 8]}";

/// 19 images in batches of 6: the last one has a single row.
std::string pixel_recipe(const std::string& model) {
  return "recipe: 1\nname: pixels\nmodel: {" + model + ", " + kBody + R"(}
data:
  type: image_masks
  root: masks
  codes: codes.txt
  void: ["255"]
  valid: images/val
  transforms:
    train: [{type: horizontal_flip, p: 0.5}]
    valid: []
  loader: {drop_last: false}
batch: {global: 6}
train: {duration: 2 epochs, precision: fp64, threads: 1}
parallel: {device: cpu, sync_bn: true}
loss: {type: combined, losses: [cross_entropy, fastai_dice], weights: [1, 0.5]}
metrics: [accuracy, jaccard_coeff_multi, per_class_iou, dice_multi, confusion_matrix]
optimizer: {type: adamw, lr: 1e-2}
eval: {batch: 4}
log: {tensorboard: false}
checkpoint: {every: 1 step, keep_last: 10}
)";
}

/// The first with dropout and an auxiliary loss.
const std::vector<std::string>& pixel_models() {
  static const std::vector<std::string> all{"type: fcn, aux_loss: 0.5",
                                            "type: unet, self_attention: true, blur: true"};
  return all;
}

class SegmentationModels : public testing::TestWithParam<std::string> {
 protected:
  SegmentationModels() {
    const auto made =
        run({"data", "make", "masks", "masks", "--train", "19", "--val", "6", "--size", "64"},
            folder_.path());
    EXPECT_EQ(made.code, 0) << made.err;
    write(folder_ / "pixels.yaml", pixel_recipe(GetParam()));
  }

  Ended call(const std::vector<std::string>& words) const { return run(words, folder_.path()); }
  Ended train(const std::string& name, std::vector<std::string> overrides) const {
    overrides.insert(overrides.begin(), {"run", "pixels.yaml", "name=" + name});
    return call(overrides);
  }
  /// Scores of held-out images after each epoch.
  std::vector<double> scores(const std::string& name,
                             const std::vector<std::string>& overrides) const;

  Folder folder_;
};

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream row(line);
  for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
  return cells;
}

std::vector<double> SegmentationModels::scores(const std::string& name,
                                               const std::vector<std::string>& overrides) const {
  const auto ended = train(name, overrides);
  EXPECT_EQ(ended.code, 0) << ended.err;
  std::istringstream lines(read(folder_ / ("runs/" + name + "/001/metrics.csv")));
  std::string line;
  std::getline(lines, line);
  const auto titles = cells_of(line);
  std::vector<double> scores;
  while (std::getline(lines, line)) {
    const auto cells = cells_of(line);
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (titles.at(i).starts_with("valid/")) scores.push_back(std::stod(cells[i]));
  }
  return scores;
}

TEST_P(SegmentationModels, TrainAlikeOnAnyNumberOfReplicasAndRanks) {
  const auto alone = scores("alone", {"parallel.mode=none"});
  ASSERT_FALSE(alone.empty());
  for (const auto* how : {"dp 2", "ddp 1", "ddp 2", "ddp 3"}) {
    const std::string mode(how, std::string(how).find(' ')), devices(1, how[mode.size() + 1]);
    const auto others =
        scores(mode + devices, {"parallel.mode=" + mode, "parallel.devices=" + devices});
    ASSERT_EQ(others.size(), alone.size()) << how;
    for (std::size_t i = 0; i < alone.size(); ++i) {
      const bool absent = std::isnan(alone[i]);  // a class that no pixel has or got
      EXPECT_NEAR(absent ? 0 : others[i], absent ? 0 : alone[i], 1e-10) << how << " " << i;
    }
  }
}

TEST_P(SegmentationModels, ScoreToTheLastBitOnAnyNumberOfRanks) {
  ASSERT_EQ(train("scored", {"train.duration=1 epochs"}).code, 0);
  const auto one = call({"eval", "runs/scored/001"});
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("iou/"));
  for (const auto* devices : {"2", "3"}) {
    const auto more = call({"eval", "runs/scored/001", "parallel.mode=ddp",
                            std::string("parallel.devices=") + devices});
    EXPECT_EQ(more.out, one.out) << devices << " ranks: " << more.err;
  }
}

TEST_P(SegmentationModels, ResumeInMidEpochBitForBit) {
  const std::vector<std::string> ranks{"parallel.mode=ddp", "parallel.devices=2"};
  auto cut = ranks;
  cut.emplace_back("train.duration=6 steps");
  ASSERT_EQ(train("whole", ranks).code, 0);
  ASSERT_EQ(train("cut", cut).code, 0);
  const auto ended = call({"resume", "runs/cut/001", "train.duration=2 epochs"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  const std::string last = "/001/checkpoints/step-00000008/model.safetensors";
  EXPECT_EQ(read(folder_ / ("runs/cut" + last)), read(folder_ / ("runs/whole" + last)));
}

INSTANTIATE_TEST_SUITE_P(Pixels, SegmentationModels, testing::ValuesIn(pixel_models()),
                         [](const auto& model) { return model.param.substr(6, 3); });

TEST(Validate, NamesAModelOfImagesAndTheDataWithMasks) {
  const Folder folder;
  auto recipe = pixel_recipe("type: vision_learner");
  write(folder / "pixels.yaml", recipe);
  const auto ended = run({"validate", "pixels.yaml"}, folder.path());
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err + ended.out,
              HasSubstr("'vision_learner' gives one answer for a whole image, and 'image_masks' "
                        "gives masks, a class for each pixel; write deeplabv3 or fcn or unet"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
