#include "train/build/agreement.h"

#include <gtest/gtest.h>

namespace ddptrain {
namespace {

/// A long recipe in which only the last section differs between two ranks.
std::string recipe(const std::string& lr, const std::string& extra = "") {
  std::string text = "name: agreement\nmodel: {type: resnet18, num_classes: 10}\n";
  for (int i = 0; i < 20; ++i) text += "x-" + std::to_string(i) + ": the same in every rank\n";
  return text + "optimizer:\n  type: sgd\n  lr: " + lr + "\n" + extra;
}

TEST(DifferingKeys, NameTheKeyBothValuesAndTheRanks) {
  EXPECT_EQ(differing_keys({{recipe("0.1"), {0, 2}}, {recipe("0.2"), {1}}}),
            "optimizer.lr is 0.1 on rank 0, 2 and 0.2 on rank 1");
  EXPECT_EQ(differing_keys({{recipe("0.1"), {0}}, {recipe("0.1", "seed: 7\n"), {1}}}),
            "seed is not set on rank 0 and 7 on rank 1");
}

TEST(DifferingKeys, AreNoneWhereOnlyCommentsDiffer) {
  EXPECT_EQ(differing_keys({{recipe("0.1"), {0}}, {recipe("0.1  # auto"), {1}}}), "");
}

}  // namespace
}  // namespace ddptrain
