// policy.on_bad_sample: skip, with ranks as processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// The small shapes, in which `each` images of three training classes are no images.
void write_broken_shapes(const Folder& folder, int each) {
  fs::copy(shapes(), folder / "pictures", fs::copy_options::recursive);
  const auto classes = list(folder / "pictures/train");
  for (const std::size_t broken : {0, 4, 9})
    for (int i = 0; i < each; ++i) {
      const auto home = folder / ("pictures/train/" + classes[broken]);
      write(home + "/" + list(home).at(static_cast<std::size_t>(2 * i)), "no image");
    }
}

Ended train(const Folder& folder, const std::string& name, const std::vector<std::string>& more) {
  std::vector<std::string> words{"run",
                                 "small.yaml",
                                 "name=" + name,
                                 kSmallModel,
                                 "data.root=pictures",
                                 "policy.on_bad_sample=skip",
                                 "train={duration: 11 steps, precision: fp64, threads: 1}",
                                 "eval.every=5 steps"};
  words.insert(words.end(), more.begin(), more.end());
  return run(words, folder.path(), environment());
}

std::vector<std::vector<double>> rows_of_numbers(const std::string& csv) {
  std::vector<std::vector<double>> rows;
  std::size_t at = csv.find('\n') + 1;
  for (auto end = csv.find('\n', at); end != std::string::npos; end = csv.find('\n', at)) {
    auto& row = rows.emplace_back();
    for (auto cell = at; cell < end; cell = csv.find_first_of(",\n", cell) + 1)
      row.push_back(std::stod(csv.substr(cell)));
    at = end + 1;
  }
  return rows;
}

// mnist_net drops features and pixels.
TEST(BadSamples, DoNotMoveOthersWhoeverHoldsThem) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  write_broken_shapes(folder, 2);
  const auto three = train(
      folder, "three",
      {"policy.bad_samples=10 %", "parallel.mode=ddp", "parallel.devices=3", "batch.global=18"});
  const auto whole = train(folder, "whole", {"policy.bad_samples=10 %", "batch.global=18"});
  ASSERT_EQ(three.code, 0) << three.err;
  const auto expected = rows_of_numbers(read(folder / "runs/whole/001/metrics.csv"));
  const auto actual = rows_of_numbers(read(folder / "runs/three/001/metrics.csv"));
  ASSERT_GE(expected.size(), 3U);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t row = 0; row < expected.size(); ++row)
    for (std::size_t i = 0; i < expected[row].size(); ++i)
      EXPECT_NEAR(actual[row].at(i), expected[row][i], 1e-9) << row << ", " << i;
}

/// The first image of a split's first class.
std::string first_image(const Folder& folder, const std::string& split) {
  const auto home = folder / ("pictures/" + split);
  const auto of_class = home + "/" + list(home).at(0);
  return of_class + "/" + list(of_class).at(0);
}

// Where the transforms leave open how large images are, the first one says it.
TEST(BadSamples, MayBeTheFirstOfEitherSplit) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  fs::copy(shapes(), folder / "pictures", fs::copy_options::recursive);
  for (const auto* split : {"train", "val"}) write(first_image(folder, split), "no image");
  const std::vector<std::string> sizes_open{
      "data.transforms.train=[{type: resize, size: 32}, {type: normalize, preset: imagenet}]",
      "eval.batch=7"};
  const auto trained = train(folder, "open", sizes_open);
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto scored = run({"eval", "runs/open/001"}, folder.path(), environment());
  EXPECT_EQ(scored.code, 0) << scored.err;
  EXPECT_THAT(scored.err, HasSubstr("scored 39 samples of"));
  std::vector<std::string> words{"validate",
                                 "small.yaml",
                                 "--level",
                                 "model",
                                 "data.root=pictures",
                                 "policy.on_bad_sample=skip",
                                 "data.sampler=sequential"};
  words.insert(words.end(), sizes_open.begin(), sizes_open.end());
  const auto looked_at = run(words, folder.path(), environment());
  EXPECT_EQ(looked_at.code, 0) << looked_at.err;
  EXPECT_THAT(looked_at.err, HasSubstr("cannot be read; a run leaves it out"));
}

TEST(BadSamples, AreCountedOverAllRanks) {
  const Folder folder;
  write(folder / "small.yaml", small_recipe());
  write_broken_shapes(folder, 2);  // 6 of 120
  const auto one = train(folder, "one", {"policy.bad_samples=4.5 %"});
  EXPECT_EQ(one.code, 3);
  EXPECT_THAT(one.err, HasSubstr("6 of 120 training samples of epoch 1 could not be read"));
  const auto three = train(folder, "three",
                           {"policy.bad_samples=4.5 %", "parallel.mode=ddp", "parallel.devices=2"});
  EXPECT_EQ(three.code, 3);
  EXPECT_THAT(three.err, HasSubstr("6 of 120 training samples of epoch 1 could not be read"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
