#include "recipe/layers/changes.h"

#include <gtest/gtest.h>

#include "config/yaml/reader.h"

namespace ddptrain {
namespace {

std::vector<std::string> between(const char* before, const char* after) {
  std::vector<std::string> lines;
  for (const auto& change :
       changes(read_yaml(before, "before").tree, read_yaml(after, "after").tree))
    lines.push_back(to_text(change));
  return lines;
}

using Lines = std::vector<std::string>;

TEST(Changes, NameTheOptionBothValuesAndWhatFollows) {
  EXPECT_EQ(
      between("train: {duration: 2 epochs, threads: 1}", "train: {duration: 4 epochs, threads: 1}"),
      (Lines{"train.duration: 2 epochs -> 4 epochs (the schedule is recomputed, and continues "
             "at the current step)"}));
  EXPECT_EQ(between("train: {fine_tune: {epochs: 2}}", "train: {fine_tune: {epochs: 3}}"),
            (Lines{"train.fine_tune.epochs: 2 -> 3 (stages are recomputed, and the run continues "
                   "in that of the current step)"}));
  EXPECT_EQ(between("log: {every: 20 steps}", "log: {every: 1 steps}"),
            (Lines{"log.every: 20 steps -> 1 steps (training does not read it)"}));
  EXPECT_EQ(between("batch: {global: 4}", "batch: {global: 8}"),
            (Lines{"batch.global: 4 -> 8 (the saved steps per epoch must fit it)"}));
}

TEST(Changes, AnotherComponentIsOneChange) {
  EXPECT_EQ(between("optimizer: {type: sgd, lr: 1, momentum: 0}", "optimizer: {type: adam, lr: 1}"),
            (Lines{"optimizer: sgd -> adam (from here on; the saved state must fit it)"}));
}

TEST(Changes, CountItemsAndMissingOptions) {
  EXPECT_EQ(
      between("model: {layers: [{out: 1}, {out: 2}]}", "model: {layers: [{out: 1}, {out: 3}]}"),
      (Lines{"model.layers[1].out: 2 -> 3 (the saved weights must fit it)"}));
  EXPECT_EQ(between("expect: {}", "expect: {accuracy: 1}"),
            (Lines{"expect.accuracy: nothing -> 1 (training does not read it)"}));
  EXPECT_EQ(between("expect: {a: 1}", "expect: {a: 1}"), Lines{});
}

}  // namespace
}  // namespace ddptrain
