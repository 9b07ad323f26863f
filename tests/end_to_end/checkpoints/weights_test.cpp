// model.weights: a run that starts from the weights of another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

class Weights : public testing::Test {
 protected:
  Weights() {
    write(folder_ / "small.yaml", small_recipe());
    const auto first = train({"train.duration=2 steps"});
    EXPECT_EQ(first.code, 0) << first.err;
  }
  Ended train(std::vector<std::string> overrides) {
    overrides.insert(overrides.begin(), {"run", "small.yaml"});
    return run(overrides, folder_.path(), {{"SHAPES", shapes()}});
  }
  const Folder folder_;
  const std::string weights_ = "runs/small/001/checkpoints/step-00000002/model.safetensors";
};

TEST_F(Weights, AreWhereTheRunBegins) {
  const std::string net = kSmallModel;  // no batch norm, which counts what it sees
  ASSERT_EQ(train({net, "train.duration=2 steps"}).code, 0);
  ASSERT_EQ(run({"export", "runs/small/002", "002.safetensors"}, folder_.path()).code, 0);
  const std::string checkpoint = "runs/small/002/checkpoints/step-00000002";
  for (const auto& [file, name] :
       {std::pair{checkpoint, "003"}, std::pair{checkpoint + "/model.safetensors", "004"}}) {
    // A step of rate almost 0 leaves them as they are.
    const auto second = train(
        {net, "model.weights=" + file, "train.duration=1 step", "optimizer.lr=1e-40", "seed=9"});
    ASSERT_EQ(second.code, 0) << second.err;
    const auto exported = std::string(name) + ".safetensors";
    ASSERT_EQ(run({"export", std::string("runs/small/") + name, exported}, folder_.path()).code, 0);
    EXPECT_EQ(read(folder_ / exported), read(folder_ / "002.safetensors"));
  }
  // Resumed and evaluated runs do not look at the file again.
  std::filesystem::remove_all(folder_ / checkpoint);
  EXPECT_EQ(run({"resume", "runs/small/003", "train.duration=2 steps"}, folder_.path()).code, 0);
  EXPECT_EQ(run({"eval", "runs/small/003"}, folder_.path()).code, 0);
}

TEST_F(Weights, OfAnotherClassCountGetANewLastLayer) {
  const auto second =
      train({"model.weights=" + weights_, "model.num_classes=12", "train.duration=1 step"});
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.err, testing::HasSubstr("  classes: the last layer is re-initialized, its "
                                             "shape differs there: '11.weight', '11.bias'\n"));
}

TEST_F(Weights, OfOtherClassesGetANewLastLayerHoweverManyThereAre) {
  for (const auto* split : {"train", "val"})
    for (const auto& name : list(shapes() + "/" + split)) {
      const auto home = folder_ / "renamed/" + split;
      std::filesystem::create_directories(home);
      std::filesystem::create_directory_symlink(shapes() + "/" + split + "/" + name,
                                                home + "/my-" + name);
    }
  const auto second = train(
      {"model.weights=" + weights_, "data.root=" + folder_ / "renamed", "train.duration=1 step"});
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.err,
              testing::HasSubstr(
                  "  classes: the last layer '11' is re-initialized, its classes are others\n"));
}

// Of 34 layers eight blocks are missing, each with two convolutions and two batch norms of four
// tensors: 80 names.
TEST_F(Weights, OfAnotherModelAreRefusedOrTakenInPart) {
  const std::string deeper =
      "model={type: xresnet34, stem: [8, 8, 16], widen: 0.25, num_classes: auto, weights: ";
  const auto strict = train({deeper + weights_ + "}", "train.duration=1 step"});
  EXPECT_EQ(strict.code, 3) << strict.err;
  EXPECT_THAT(
      strict.err,
      testing::HasSubstr("' does not fit: the file lacks '4.2.convpath.0.0.weight', "
                         "'4.2.convpath.0.1.weight', '4.2.convpath.0.1.bias' and 77 more; 'remap' "
                         "renames, and 'strict: false' takes what fits\n"));
  const auto part =
      train({deeper + "{file: " + weights_ + ", strict: false}}", "train.duration=1 step"});
  EXPECT_EQ(part.code, 0) << part.err;
  EXPECT_THAT(part.err, testing::HasSubstr(
                            "' fits in part: the file lacks '4.2.convpath.0.0.weight', "
                            "'4.2.convpath.0.1.weight', '4.2.convpath.0.1.bias' and 77 more\n"));
}

TEST_F(Weights, ThatAreNotThereAreNamed) {
  const auto none = train({"model.weights=none.pth"});
  EXPECT_EQ(none.code, 3) << none.err;
  EXPECT_THAT(none.err, testing::HasSubstr("/none.pth': no such file or directory\n"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
