#include "recipe/layers/splits.h"

#include <gtest/gtest.h>

#include "config/encode.h"
#include "config/yaml/reader.h"

namespace ddptrain {
namespace {

std::string completed(const std::string& recipe) {
  auto tree = read_yaml(recipe, "recipe.yaml").tree;
  complete_splits(tree);
  return to_yaml(tree);
}

TEST(CompleteSplits, LaysThemOverTheData) {
  EXPECT_EQ(
      completed("data: {type: image_folder, root: a, valid: {fraction: 0.2, seed: 1}}\n"
                "eval:\n"
                "  splits: {sketch: {root: b}, seeds: {valid: {seed: 2}}}\n"
                "  test: {valid: test}\n"),
      to_yaml(read_yaml("data: {type: image_folder, root: a, valid: {fraction: 0.2, seed: 1}}\n"
                        "eval:\n"
                        "  splits:\n"
                        "    sketch: {type: image_folder, root: b, valid: {fraction: 0.2, "
                        "seed: 1}}\n"
                        "    seeds: {type: image_folder, root: a, valid: {fraction: 0.2, "
                        "seed: 2}}\n"
                        "  test: {type: image_folder, root: a, valid: test}\n",
                        "expected.yaml")
                  .tree));
}

TEST(CompleteSplits, LeavesWhatIsOfTraining) {
  EXPECT_EQ(
      completed("data: {type: mnist, root: a, sampler: shuffle, mix: mixup, loader: {workers: "
                "2}, source: {file: a.tgz}}\n"
                "eval: {test: {root: b}}\n"),
      to_yaml(read_yaml("data: {type: mnist, root: a, sampler: shuffle, mix: mixup, loader: "
                        "{workers: 2}, source: {file: a.tgz}}\n"
                        "eval: {test: {type: mnist, root: b}}\n",
                        "expected.yaml")
                  .tree));
}

TEST(CompleteSplits, DropsOptionsOfAnotherType) {
  EXPECT_EQ(completed("data: {type: image_folder, root: a, valid: val}\n"
                      "eval: {test: {type: manifest, file: b.csv}}\n"),
            to_yaml(read_yaml("data: {type: image_folder, root: a, valid: val}\n"
                              "eval: {test: {type: manifest, file: b.csv}}\n",
                              "expected.yaml")
                        .tree));
}

TEST(CompleteSplits, KeepsThePlaceOfEachOption) {
  auto tree =
      read_yaml("data:\n  type: mnist\n  root: a\neval:\n  test:\n    root: b\n", "r.yaml").tree;
  complete_splits(tree);
  const auto& test = *tree.find("eval")->find("test");
  EXPECT_EQ(test.find("type")->place.line, 2);
  EXPECT_EQ(test.find("root")->place.line, 6);
  EXPECT_EQ(test.place.line, 5 + 1);
}

// What else is written there is the check's to report.
TEST(CompleteSplits, LeavesWhatIsNoMap) {
  for (const std::string recipe :
       {"data: {type: mnist}\neval: {splits: [1, 2], test: word}\n", "eval: {test: {root: b}}\n",
        "data: null\neval: {test: {root: b}}\n", "data: {type: mnist}\neval: 5\n"})
    EXPECT_EQ(completed(recipe), to_yaml(read_yaml(recipe, "recipe.yaml").tree)) << recipe;
}

}  // namespace
}  // namespace ddptrain
