// Mixtures of samples, test-time augmentation and images that grow, through the same loop as
// others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

std::string metrics(const Folder& folder, const std::vector<std::string>& more) {
  std::vector<std::string> words{"run",
                                 "small.yaml",
                                 "train.precision=fp64",
                                 "train.duration=4 steps",
                                 "batch.global=15",
                                 "train.threads=1",
                                 "eval.batch=16"};
  words.insert(words.end(), more.begin(), more.end());
  const auto ended = run(words, folder.path(), environment());
  EXPECT_EQ(ended.code, 0) << ended.err;
  const auto csv =
      read(folder / ("runs/small/" + list(folder / "runs/small").back() + "/metrics.csv"));
  return csv.substr(csv.find('\n') + 1);
}

void expect_close(const std::string& a, const std::string& b, const std::string& what) {
  ASSERT_EQ(std::count(a.begin(), a.end(), ','), std::count(b.begin(), b.end(), ',')) << what;
  std::istringstream left(a), right(b);
  for (std::string x, y; std::getline(left, x, ',') && std::getline(right, y, ',');)
    EXPECT_NEAR(std::stod(x), std::stod(y), 1e-9) << what;
}

// Pieces of 5 rows cut pairs apart.
TEST(Mix, TrainsTheSameWithNoneDpAndDdp) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  const auto plain = metrics(folder, {});
  for (const std::string mix : {"mixup", "one_of"}) {
    const auto asked = "data.mix=" + mix;
    const auto none = metrics(folder, {asked});
    EXPECT_NE(none, plain) << mix;
    for (const auto* mode : {"dp", "ddp"})
      expect_close(metrics(folder, {asked, std::string("parallel.mode=") + mode,
                                    "parallel.devices=3", "parallel.sync_bn=true"}),
                   none, mix + " " + mode);
  }
}

TEST(Mix, OfWordsIsRefused) {
  const Folder folder;
  write(folder / "table.csv", "a,b,y\nx,1,p\nz,2,q\nx,3,p\nz,4,q\nx,5,p\nz,6,q\n");
  write(folder / "table.yaml",
        "recipe: 1\nname: table\nmodel: tabular\n"
        "data: {type: csv_table, file: table.csv, target: y, mix: {type: mixup, alpha: 0.2}}\n"
        "batch: {global: 2}\nparallel: {device: cpu}\n");
  const auto ended = run({"run", "table.yaml"}, folder.path());
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_THAT(ended.err,
              testing::HasSubstr("table.yaml:4:58: error: data.mix: mixup takes means of numbers, "
                                 "and this data has names or words among its inputs\n"));
}

std::string evaluation(const Folder& folder, const std::vector<std::string>& more) {
  std::vector<std::string> words{"eval", "runs/small/001"};
  words.insert(words.end(), more.begin(), more.end());
  const auto ended = run(words, folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  return ended.out;
}

TEST(TestTimeAugmentation, IsEqualToTheLastBitOnAnyNumberOfRanks) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe("eval: {batch: 7, tta: {n: 2}}\n"));
  ASSERT_EQ(run({"run", "small.yaml", "train.threads=1"}, folder.path(), environment()).code, 0);
  const auto one = evaluation(folder, {});
  EXPECT_THAT(one, testing::ContainsRegex("\nvalid/accuracy [-0-9.e]+\n"));
  EXPECT_THAT(one, testing::ContainsRegex("\nvalid_tta/accuracy [-0-9.e]+\n"));
  for (const auto* devices : {"2", "3"})
    EXPECT_EQ(evaluation(folder, {"parallel.mode=ddp", std::string("parallel.devices=") + devices}),
              one);
  const auto line = [](const std::string& text, const std::string& name) {
    const auto at = text.find(name);
    return text.substr(at, text.find('\n', at) - at);
  };
  const auto other = evaluation(folder, {"eval.tta.n=3"});
  EXPECT_EQ(line(other, "valid/loss"), line(one, "valid/loss"));
  EXPECT_NE(line(other, "valid_tta/loss"), line(one, "valid_tta/loss"));
  EXPECT_EQ(line(evaluation(folder, {"eval.tta.beta=1"}), "valid_tta/accuracy").substr(9),
            line(one, "valid/accuracy").substr(5));
  const auto predicted = run({"predict", "runs/small/001", shapes() + "/val"}, folder.path());
  EXPECT_EQ(predicted.code, 0) << predicted.err;
  EXPECT_EQ(std::count(predicted.out.begin(), predicted.out.end(), '\n'), 41);
}

TEST(TestTimeAugmentation, WantsTrainingTransforms) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe("eval: {tta: 2}\n"));
  const auto ended =
      run({"run", "small.yaml", "data.transforms.train=[]"}, folder.path(), environment());
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_THAT(ended.err, testing::HasSubstr("eval.tta: test-time augmentation goes through "
                                            "data.transforms.train, and there is none\n"));
}

const std::vector<std::string> kTwoSizes{"run",
                                         "small.yaml",
                                         "train.threads=1",
                                         "train.duration=2 epochs",
                                         "batch.global=24",
                                         "data.transforms.progressive=[{until: 50 %, size: 24}]"};

std::string weights(const Folder& folder) {
  return read(folder / "runs/small/001/checkpoints/step-00000010/model.safetensors");
}

TEST(Progressive, GoesOnBitForBitFromEitherSize) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  auto words = kTwoSizes;
  words.insert(words.end(),
               {"checkpoint.every=3 steps", "checkpoint.keep_last=9", "data.mix=one_of"});
  ASSERT_EQ(run(words, folder.path(), environment()).code, 0);
  const auto whole = weights(folder);
  ASSERT_FALSE(whole.empty());
  for (const std::string last : {"step-00000006", "step-00000003"}) {  // of 10, 5 an epoch
    const auto saved = folder / "runs/small/001/checkpoints";
    for (const auto& name : list(saved))
      if (name.starts_with("step-") && name > last) std::filesystem::remove_all(saved + "/" + name);
    const auto resumed = run({"resume", "runs/small/001"}, folder.path(), environment());
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_THAT(resumed.err, testing::HasSubstr("resuming from " +
                                                folder / "runs/small/001/checkpoints/" + last));
    EXPECT_EQ(weights(folder), whole) << "from " << last;
  }
}

TEST(Progressive, SaysWhichModelTakesNoOtherSize) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  auto words = kTwoSizes;
  words.push_back(
      "model={type: vit, patch_size: 8, num_layers: 1, num_heads: 2, hidden_dim: 16, mlp_dim: 16}");
  const auto ended = run(words, folder.path(), environment());
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_THAT(
      ended.err,
      testing::HasSubstr(
          "error: model 'vit' cannot take the training samples of shape [3, 24, 24] that begin "
          "with epoch 1: model.image_size: the network takes images of 32 x 32, not of 24 x 24\n"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
