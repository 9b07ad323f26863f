// Labels from names and lists, one or several an image, through the same loop as others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

/// A list of the small shapes in which each has its own name and a second label for some.
std::string several_labels() {
  std::string csv = "path,label,is_valid\n";
  for (const std::string side : {"train", "val"})
    for (const auto& shape : list(shapes() + "/" + side)) {
      if (shape.starts_with(".")) continue;
      for (const auto& file : list(shapes() + "/" + side + "/" + shape))
        csv += side + "/" + shape + "/" + file + "," + shape + (shape < "d" ? "|early" : "") + "," +
               (side == "val" ? "True" : "False") + "\n";
    }
  return csv;
}

std::string several_recipe(const std::string& loss) {
  return R"(recipe: 1
name: several
model: {type: xresnet18, stem: [8, 8, 16], widen: 0.25, num_classes: auto}
data:
  type: manifest
  file: shapes.csv
  root: ${env:SHAPES}
  columns: {split: is_valid}
  label_delimiter: "|"
  transforms:
    train: [{type: normalize, preset: imagenet}]
    valid: [{type: normalize, preset: imagenet}]
batch: {global: 16}
train: {duration: 4 steps, threads: 1}
metrics: [accuracy_multi, f1_multi]
parallel: {device: cpu}
eval: {batch: 7}
loss: )" +
         loss + "\n";
}

TEST(SeveralLabels, TrainEvaluateAndPredict) {
  const Folder folder;
  write(folder / "shapes.csv", several_labels());
  write(folder / "several.yaml", several_recipe("bce_with_logits"));
  const auto ended = run({"run", "several.yaml"}, folder.path(), environment());
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto one = run({"eval", "runs/several/001"}, folder.path());
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, testing::ContainsRegex("\nvalid/accuracy_multi [-0-9.e]+\n"));
  EXPECT_EQ(
      run({"eval", "runs/several/001", "parallel.mode=ddp", "parallel.devices=2"}, folder.path())
          .out,
      one.out);
  const auto predicted = run({"predict", "runs/several/001", shapes() + "/val"}, folder.path());
  ASSERT_EQ(predicted.code, 0) << predicted.err;
  std::istringstream lines(predicted.out);
  std::string header, row;
  std::getline(lines, header);
  std::getline(lines, row);
  EXPECT_EQ(
      header,
      "path,label,arrow,circle,crescent,cross,early,heart,hexagon,ring,square,star,triangle,error");
  std::istringstream cells(row);
  double sum = 0;
  int column = 0;
  for (std::string cell; std::getline(cells, cell, ','); ++column)
    if (column >= 2) sum += std::stod(cell);
  EXPECT_EQ(column, 13);
  EXPECT_GT(std::abs(sum - 1), 1e-6) << "each label has a probability of its own: " << row;
}

TEST(SeveralLabels, WantALossForThem) {
  const Folder folder;
  write(folder / "shapes.csv", several_labels());
  write(folder / "several.yaml", several_recipe("cross_entropy"));
  const auto ended = run({"validate", "several.yaml"}, folder.path(), environment());
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_THAT(
      (ended.out + ended.err),
      testing::HasSubstr("error[target]: loss: 'cross_entropy' takes classes, and the targets are "
                         "several labels a sample; write for example bce_with_logits\n"))
      << ended.out << ended.err;
}

/// Words that make a shipped recipe small.
std::vector<std::string> small(const std::string& recipe, const std::vector<std::string>& more) {
  std::vector<std::string> words{"run",
                                 test::in_source(recipe),
                                 "parallel.device=cpu",
                                 "train.duration=2 steps",
                                 "batch.global=8",
                                 "eval.batch=20",
                                 "output.dir=runs"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Pets, TakesLabelsFromNames) {
  const Folder folder;
  std::filesystem::create_directories(folder / "images");
  for (const auto& shape : list(shapes() + "/train")) {
    auto files = list(shapes() + "/train/" + shape);
    files.resize(5);
    for (const auto& file : files)
      std::filesystem::copy(shapes() + "/train/" + shape + "/" + file,
                            folder / ("images/" + shape + "_" + file));
  }
  const std::vector<std::string> sizes{
      "model.weights=null",
      "model.body={type: xresnet18, stem: [8, 8, 16], widen: 0.25}",
      "batch.global=20",
      "train.fine_tune.epochs=1",
      "data.root=images",
      "data.transforms.train[0].size=40",
      "data.transforms.train[1].size=32",
      "data.transforms.valid[0].size=40",
      "data.transforms.valid[1].size=32",
      "train.precision=fp32"};
  const auto breeds = run(small("recipes/pets.yaml", sizes), folder.path());
  EXPECT_EQ(breeds.code, 0) << breeds.err;
  EXPECT_THAT(breeds.err,
              testing::ContainsRegex(
                  "\nstep 4  epoch 2\\.00  valid/loss [0-9.]+  valid/error_rate [01]\\.[0-9]+\n"));
  auto two = sizes;
  two.push_back("data.pattern=null");
  two.push_back("data.labels={early: '^[a-m]', late: '^[n-z]'}");
  const auto sides = run(small("recipes/pets.yaml", two), folder.path());
  EXPECT_EQ(sides.code, 0) << sides.err;
}

TEST(NoisyImagenette, TakesTheColumnOfItsNoise) {
  const Folder folder;
  auto csv = several_labels();
  csv.replace(0, csv.find('\n'), "path,noisy_labels_5,is_valid");
  write(folder / "noisy.csv", csv);
  const auto ended =
      run(small("recipes/imagenette-noisy.yaml",
                {"data.root=" + shapes(), "data.file=noisy.csv", "model.stem=[8, 8, 16]",
                 "model.widen=0.25", "data.transforms.train[0].size=32",
                 "data.transforms.valid[0].size=32"}),
          folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err,
              testing::ContainsRegex("\nstep 2  epoch 0\\.13  valid/loss [0-9.]+  valid/accuracy "
                                     "[01]\\.[0-9]+  valid/top_5 [01]\\.[0-9]+\n"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
