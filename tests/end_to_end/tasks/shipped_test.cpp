// Every shipped recipe and config trains for a few steps on small data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "end_to_end/program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

void big_endian(std::ofstream& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.put(static_cast<char>(value >> shift));
}

// The IDX files of MNIST's page: magic number, sizes, bytes.
void write_idx(const std::string& folder, const std::string& prefix, std::uint32_t count) {
  std::ofstream images(folder + "/" + prefix + "-images-idx3-ubyte", std::ios::binary);
  for (const std::uint32_t word : {2051U, count, 28U, 28U}) big_endian(images, word);
  for (std::uint32_t i = 0; i < count * 28 * 28; ++i) images.put(static_cast<char>(i * 31 % 251));
  std::ofstream labels(folder + "/" + prefix + "-labels-idx1-ubyte", std::ios::binary);
  for (const std::uint32_t word : {2049U, count}) big_endian(labels, word);
  for (std::uint32_t i = 0; i < count; ++i) labels.put(static_cast<char>(i % 10));
}

/// The images are of 32 px, and no recipe's network needs larger ones.
std::vector<std::string> sizes_of(const std::string& name) {
  if (name.find("mnist") != std::string::npos || name.find("cifar10") != std::string::npos)
    return {};
  std::vector<std::string> sizes{"data.transforms.train[0].size=32",
                                 "data.transforms.valid[0].size=32"};
  if (name == "recipes/imagenette-resnet18.yaml" || name == "configs/imagenette.yaml")
    sizes.emplace_back("data.transforms.valid[1].size=32");
  return sizes;
}

/// A recipe of images on small data, two steps of it.
std::vector<std::string> two_steps(const std::string& name, const std::string& data) {
  std::vector<std::string> words{"run",
                                 test::in_source(name),
                                 "data.root=" + data,
                                 "train.duration=2 steps",
                                 "batch.global=8",
                                 "batch.micro=auto",
                                 "eval.batch=20"};
  const auto sizes = sizes_of(name);
  words.insert(words.end(), sizes.begin(), sizes.end());
  if (name == "configs/quickstart.yaml") words.push_back("~expect");
  if (name.find("mnist") == std::string::npos) words.push_back("data.valid=val");
  return words;
}

std::string mnist_folder(const Folder& folder) {
  write(folder / "mnist/readme", "made by a test");
  write_idx(folder / "mnist", "train", 40);
  write_idx(folder / "mnist", "t10k", 20);
  return folder / "mnist";
}

class Shipped : public testing::TestWithParam<const char*> {};

TEST_P(Shipped, TrainsForAFewSteps) {
  const Folder folder;
  const std::string name = GetParam();
  const bool mnist = name.find("mnist") != std::string::npos;
  auto words = two_steps(name, mnist ? mnist_folder(folder) : shapes());
  words.insert(words.end(), {"parallel.device=cpu", "train.precision=fp32", "output.dir=runs"});
  if (name.starts_with("configs/")) words.push_back("parallel.devices=2");
  const auto ended = run(words, folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(
      ended.err,
      testing::ContainsRegex(
          "\nstep [0-9]+  epoch [0-9.]+  valid/loss [0-9.]+  valid/accuracy [01]\\.[0-9]+"));
}

INSTANTIATE_TEST_SUITE_P(
    Recipes, Shipped,
    testing::Values("recipes/cifar10.yaml", "recipes/imagenette.yaml", "recipes/imagenette-5.yaml",
                    "recipes/imagenette-20.yaml", "recipes/imagenette-80.yaml",
                    "recipes/imagenette-200.yaml", "recipes/imagenette-resnet18.yaml",
                    "recipes/imagewoof.yaml", "recipes/mnist.yaml", "recipes/shapes.yaml",
                    "configs/dp.yaml", "configs/imagenette.yaml", "configs/multi-gpu.yaml",
                    "configs/quickstart.yaml", "configs/two-nodes.yaml"));

TEST(ShippedFineTune, GoesFromSomeClassesToOthers) {
  const Folder folder;
  const auto small = [&](const std::string& recipe, std::vector<std::string> more) {
    more.insert(more.begin(),
                {"run", test::in_source(recipe), "data.root=" + shapes(), "data.valid=val",
                 "parallel.device=cpu", "batch.global=20", "eval.batch=20", "output.dir=runs"});
    return run(more, folder.path());
  };
  const auto first = small("recipes/cifar10.yaml", {"train.duration=1 step",
                                                    "data.classes=[arrow, "
                                                    "circle, crescent, cross, heart]"});
  ASSERT_EQ(first.code, 0) << first.err;
  const auto second = small("recipes/cifar10-fine-tune.yaml",
                            {"model.weights=runs/cifar10/latest", "train.fine_tune.epochs=1",
                             "data.classes=[hexagon, ring, square, star, triangle]"});
  EXPECT_EQ(second.code, 0) << second.err;
  EXPECT_THAT(second.err, testing::HasSubstr("stage 2 of 2, 3 steps: 62 of 62 parameters train"));
}

/// Whole, a second or two: its own `expect` is the test.
TEST(ShippedTable, HousesReachWhatTheirRecipeExpects) {
  const Folder folder;
  ASSERT_EQ(run({"data", "make", "table", "."}, folder.path()).code, 0);
  const auto ended = run({"run", test::in_source("recipes/houses.yaml"), "data.file=houses.csv",
                          "parallel.device=cpu", "train.threads=1", "output.dir=runs"},
                         folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err,
              testing::ContainsRegex(
                  "\nstep 50  epoch 1\\.00  valid/loss [0-9.]+  valid/rmse [0-9.]+  valid/mae "
                  "[0-9.]+  valid/r2 [-0-9.]+  valid/explained_variance [-0-9.]+\n"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
