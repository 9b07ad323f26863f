// Runs in stages: another network's weights, a head alone, then all layer groups.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "end_to_end/program.h"

namespace ddptrain::end_to_end {
namespace {

const std::string kLearner =
    "model={type: vision_learner, body: {type: xresnet18, stem: [8, 8, 16], widen: 0.25}, "
    "num_classes: auto, lin_ftrs: [16]}";
const std::string kStages =
    "train.stages=[{duration: 3 steps, freeze_to: -1, lr: 1e-2}, "
    "{duration: 4 steps, lr: {from: 1e-4, to: 1e-2}, schedule: one_cycle, train_bn: false}, "
    "{duration: 2 steps, freeze_to: 1, train_bn: false, bn_freeze: true}]";

class FineTune : public testing::Test {
 protected:
  FineTune() { write(folder_ / "small.yaml", small_recipe()); }
  Ended train(std::vector<std::string> overrides) {
    overrides.insert(overrides.begin(), {"run", "small.yaml"});
    return run(overrides, folder_.path(), {{"SHAPES", shapes()}});
  }
  const Folder folder_;
};

// The body has 22 convolutions and as many batch norms, 66 parameters, and the head 6; batch norms
// of frozen layers train.
TEST_F(FineTune, StartsFromTheWholeNetworkAndTrainsItsHeadFirst) {
  ASSERT_EQ(train({"train.duration=2 steps"}).code, 0);
  const auto tuned = train({kLearner, "model.weights=runs/small/001/checkpoints/step-00000002",
                            "train.fine_tune={epochs: 1, base_lr: 1e-2}", "batch.global=40"});
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  for (const auto* message : {"'1', which such a file does not have, is re-initialized",
                              "stage 1 of 2, 3 steps: 50 of 72 parameters train\n",
                              "stage 2 of 2, 3 steps: 72 of 72 parameters train\n"})
    EXPECT_THAT(tuned.err, testing::HasSubstr(message)) << message << "\n" << tuned.err;
}

TEST_F(FineTune, GoesOnBitForBitInEveryStage) {
  const std::vector<std::string> words{kLearner, kStages, "optimizer={type: adam}",
                                       "checkpoint={every: 1 step, keep_last: 20}"};
  ASSERT_EQ(train(words).code, 0);
  const std::string last = "/checkpoints/step-00000009/";
  const auto expected = read(folder_ / ("runs/small/001" + last + "model.safetensors"));
  ASSERT_FALSE(expected.empty());
  for (const int step : {2, 3, 8}) {
    const auto copy = "runs/small/1" + std::to_string(step);
    std::filesystem::copy(folder_ / "runs/small/001", folder_ / copy,
                          std::filesystem::copy_options::recursive);
    for (int later = step + 1; later <= 9; ++later)
      std::filesystem::remove_all(folder_ /
                                  (copy + "/checkpoints/step-0000000" + std::to_string(later)));
    const auto ended = run({"resume", copy}, folder_.path(), {{"SHAPES", shapes()}});
    ASSERT_EQ(ended.code, 0) << ended.err;
    for (const auto* file : {"model.safetensors", "optimizer.safetensors"})
      EXPECT_EQ(read(folder_ / (copy + last + file)),
                read(folder_ / ("runs/small/001" + last + file)))
          << "from step " << step << ", " << file;
  }
}

std::vector<double> numbers(const std::string& csv) {
  std::vector<double> all;
  std::istringstream lines(csv.substr(csv.find('\n') + 1));
  for (std::string field; std::getline(lines, field, ',');)
    if (!field.empty()) all.push_back(std::strtod(field.c_str(), nullptr));
  return all;
}

TEST_F(FineTune, IsTheSameUnderEveryEngine) {
  std::vector<double> none;
  for (const auto* mode : {"none", "dp", "ddp"}) {
    const bool several = mode != std::string("none");
    const auto ended = train({kLearner, kStages, "train.precision=fp64", "batch.accumulate=2",
                              std::string("parallel.mode=") + mode, "eval.every=100 steps",
                              std::string("parallel.sync_bn=") + (several ? "true" : "false"),
                              std::string("parallel.devices=") + (several ? "2" : "1")});
    ASSERT_EQ(ended.code, 0) << ended.err;
    const auto evaluated = numbers(
        read(folder_ / ("runs/small/" + list(folder_ / "runs/small").back() + "/metrics.csv")));
    ASSERT_GT(evaluated.size(), 3U);
    if (none.empty()) none = evaluated;
    ASSERT_EQ(evaluated.size(), none.size());
    for (std::size_t i = 0; i < none.size(); ++i) EXPECT_NEAR(evaluated[i], none[i], 1e-9) << mode;
  }
}

TEST_F(FineTune, NamesTheGroupThatIsNotThere) {
  const auto ended = train({"train.freeze_to=5"});
  EXPECT_EQ(ended.code, 2);
  EXPECT_THAT(ended.err,
              testing::HasSubstr("error: freeze_to: 5, and the model has 2 layer groups\n"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
