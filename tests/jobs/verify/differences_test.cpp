#include "jobs/verify/differences.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "checkpoint/checkpoint.h"
#include "checkpoint/saving/save.h"
#include "jobs/verify/checks.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

at::Tensor vector(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }

/// Runs that were "trained" here: their checkpoints and the steps that they noted.
class DifferencesOf : public testing::Test {
 protected:
  std::string run(const std::string& name, const Checkpoint& checkpoint) const {
    save_checkpoint(folder_ / (name + "/checkpoints"), checkpoint);
    return folder_ / name;
  }
  std::string steps(const std::string& name, const std::string& lines) const {
    folder_.write(name + "/events.jsonl", lines);
    return folder_ / name;
  }
  std::string scores(const std::string& name, const std::string& lines) const {
    folder_.write(name + "/scores.txt", lines);
    return folder_ / name;
  }
  static Checkpoint checkpoint(at::Tensor weight, at::Tensor bias, at::Tensor mean) {
    Checkpoint made;
    made.step = 3;
    made.model = {{"fc.weight", std::move(weight)},
                  {"fc.bias", std::move(bias)},
                  {"bn.running_mean", std::move(mean)}};
    made.state = "{}";
    return made;
  }
  static const Difference& of(const Differences& differences, const std::string& what) {
    for (const auto& each : differences)
      if (each.what == what) return each;
    throw std::runtime_error("no row '" + what + "'");
  }
  const TemporaryFolder folder_;
};

// Weights (3, 4) and (0, 12) have the length 13; they are (0, 0) and (0, 0.013) apart.
TEST_F(DifferencesOf, TensorsAreLengthsNextToThatOfAllOfThem) {
  const auto one = run("a", checkpoint(vector({3, 4}), vector({0, 12}), vector({1})));
  const auto other = run("b", checkpoint(vector({3, 4}), vector({0, 12.013}), vector({1})));
  const auto found = checkpoint_differences(one, other, 1e-4);
  EXPECT_NEAR(of(found, "weights").largest, 1e-3, 1e-12);
  EXPECT_TRUE(of(found, "weights").beyond);
  EXPECT_EQ(of(found, "weights").first, "'fc.bias'");
  EXPECT_EQ(of(found, kBuffers).largest, 0);
  EXPECT_FALSE(of(found, kBuffers).beyond);
  EXPECT_FALSE(of(checkpoint_differences(one, other, 1e-2), "weights").beyond);
}

TEST_F(DifferencesOf, TensorsAreThoseOfTheirLastBitWhereNothingIsAllowed) {
  const double next = std::nextafter(4.0, 5.0);
  const auto one = run("a", checkpoint(vector({3, 4}), vector({0.0}), vector({1})));
  const auto other = run("b", checkpoint(vector({3, next}), vector({0.0}), vector({1})));
  const auto signs = run("c", checkpoint(vector({3, 4}), vector({-0.0}), vector({1})));
  EXPECT_EQ(of(checkpoint_differences(one, other, 0), "weights").first, "'fc.weight'");
  EXPECT_FALSE(of(checkpoint_differences(one, other, 1e-12), "weights").beyond);
  EXPECT_EQ(of(checkpoint_differences(one, signs, 0), "weights").first, "'fc.bias'");
  EXPECT_FALSE(of(checkpoint_differences(one, one, 0), "weights").beyond);
}

TEST_F(DifferencesOf, TensorsThatAreNoNumbersOrMissingAreFound) {
  const auto nan = std::numeric_limits<double>::quiet_NaN();
  const auto one = run("a", checkpoint(vector({3, 4}), vector({1}), vector({1})));
  const auto other = run("b", checkpoint(vector({3, nan}), vector({1}), vector({1})));
  auto fewer = checkpoint(vector({3, 4}), vector({1}), vector({1}));
  fewer.model.erase(fewer.model.begin() + 1);
  EXPECT_TRUE(of(checkpoint_differences(one, other, 1e-2), "weights").beyond);
  EXPECT_EQ(of(checkpoint_differences(one, run("c", fewer), 1e-2), "weights").first, "'fc.bias'");
}

TEST_F(DifferencesOf, AnOptimizerStateAndAPositionCount) {
  auto made = checkpoint(vector({3}), vector({1}), vector({1}));
  made.optimizer = {{"fc.weight.exp_avg", vector({2})}};
  const auto one = run("a", made);
  made.optimizer[0].tensor = vector({0});
  made.state = R"({"step": 1})";
  const auto found = checkpoint_differences(one, run("b", made), 0);
  EXPECT_EQ(of(found, "optimizer state").first, "'fc.weight.exp_avg'");
  EXPECT_EQ(of(found, "optimizer state").largest, 1);
  EXPECT_EQ(of(found, "position and state").first, "state.json");
}

TEST_F(DifferencesOf, StepsAreRelativeToTheReference) {
  const std::string event = R"({"event": "step", "step": )";
  const auto one =
      steps("a", event + R"(1, "train/loss": 2.0, "train/gradient_norm": 4.0})" + "\n" + event +
                     R"(2, "train/loss": 2.0, "train/gradient_norm": null})");
  const auto other =
      steps("b", event + R"(2, "train/loss": 2.5, "train/gradient_norm": null})" + "\n");
  const auto found = step_differences(one, other, 0.1);
  EXPECT_EQ(of(found, "losses").largest, 0.25);
  EXPECT_EQ(of(found, "losses").first, "step 2");
  EXPECT_FALSE(of(found, "gradient norms").beyond) << "neither was measured";
  EXPECT_TRUE(of(step_differences(one, steps("c", ""), 0.1), "losses").beyond);
}

// torch's names for batch norm and for spectral_norm.
TEST_F(DifferencesOf, BuffersOfPassesAreFoundByName) {
  auto made = checkpoint(vector({3}), vector({1}), vector({1}));
  EXPECT_TRUE(buffers_of_passes(run("a", made)).statistics);
  EXPECT_FALSE(buffers_of_passes(folder_ / "a").iterations);
  made.model[2].name = "conv.weight_u";
  EXPECT_FALSE(buffers_of_passes(run("b", made)).statistics);
  EXPECT_TRUE(buffers_of_passes(folder_ / "b").iterations);
}

TEST_F(DifferencesOf, ScoresAreThoseOfTheirLastBit) {
  const auto one = scores("a", "valid/accuracy 0.5\nvalid/f1 nan\n");
  EXPECT_FALSE(of(score_differences(one, one), "metrics").beyond);
  const auto other = scores("b", "valid/accuracy 0.5000000000000001\nvalid/f1 nan\n");
  EXPECT_EQ(of(score_differences(one, other), "metrics").first, "'valid/accuracy'");
  EXPECT_TRUE(of(score_differences(one, scores("c", "valid/accuracy 0.5\n")), "metrics").beyond);
  folder_.write("a/confusion.csv", "1");
  EXPECT_EQ(of(score_differences(one, other), "tables").first, "confusion.csv");
}

// IEEE 754 and bfloat16: 23, 10 and 7 digits behind the point.
TEST(AllowedDifference, IsHalfTheDigitsOfAPrecision) {
  EXPECT_DOUBLE_EQ(allowed_of(Precision::fp32), std::pow(2, -11.5));
  EXPECT_DOUBLE_EQ(allowed_of(Precision::fp16), std::pow(2, -5));
  EXPECT_DOUBLE_EQ(allowed_of(Precision::bf16), std::pow(2, -3.5));
  EXPECT_EQ(allowed_of(Precision::fp64), 1e-12);
}

}  // namespace
}  // namespace ddptrain
