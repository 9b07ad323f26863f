// Clipping folds in what gradients are multiplied with.
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>

#include "optim/clip.h"
#include "support/node.h"

namespace ddptrain {
namespace {

std::unique_ptr<Clip> build(const nlohmann::json& recipe) {
  return catalog<Clip>().build(fragment<Clip>(recipe));
}

std::vector<at::Tensor> three_and_four() { return {at::tensor({3.0}), at::tensor({4.0})}; }

void expect_gradients(const std::vector<at::Tensor>& gradients, double first, double second) {
  EXPECT_NEAR(gradients[0].item<double>(), first, 1e-6);
  EXPECT_NEAR(gradients[1].item<double>(), second, 1e-6);
}

TEST(NormClip, ScalesAllGradientsToTheLargestLength) {
  const auto gradients = three_and_four();
  EXPECT_NEAR((*build({{"type", "norm"}, {"max", 1}}))(gradients, 1), 5, 1e-12);
  expect_gradients(gradients, 0.6, 0.8);
}

TEST(NormClip, LeavesShortGradientsToTheLastBit) {
  const auto gradients = three_and_four();
  (*build({{"type", "norm"}, {"max", 6}}))(gradients, 1);
  EXPECT_EQ(gradients[0].item<double>(), 3);
  EXPECT_EQ(gradients[1].item<double>(), 4);
}

TEST(NormClip, SeesTheNormAfterScaling) {
  const auto clip = build({{"type", "norm"}, {"max", 1}});
  auto gradients = three_and_four();
  EXPECT_NEAR((*clip)(gradients, 0.1), 0.5, 1e-12);
  expect_gradients(gradients, 0.3, 0.4);
  gradients = three_and_four();
  EXPECT_NEAR((*clip)(gradients, 2), 10, 1e-12);
  expect_gradients(gradients, 0.6, 0.8);
}

TEST(NormClip, OfNullIsTheLargestEntry) {
  const auto gradients = three_and_four();
  EXPECT_NEAR((*build({{"type", "norm"}, {"max", 2}, {"p", nullptr}}))(gradients, 1), 4, 1e-12);
  expect_gradients(gradients, 1.5, 2);
}

TEST(NormClip, OfNoGradientsIsNothing) {
  EXPECT_EQ((*build({{"type", "norm"}, {"max", 1}}))({}, 1), 0);
}

TEST(NormClip, SpoilsEverythingWhereOneEntryIsNotANumber) {
  const std::vector<at::Tensor> gradients{at::tensor({std::nan("")}), at::tensor({4.0})};
  EXPECT_TRUE(std::isnan((*build({{"type", "norm"}, {"max", 1}}))(gradients, 1)));
  EXPECT_TRUE(std::isnan(gradients[1].item<double>()));
}

TEST(ValueClip, CutsEachEntryAfterScaling) {
  const auto gradients = three_and_four();
  EXPECT_TRUE(std::isnan((*build({{"type", "value"}, {"max", 7}}))(gradients, -2)));
  expect_gradients(gradients, -6, -7);
}

}  // namespace
}  // namespace ddptrain
