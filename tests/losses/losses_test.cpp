#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "losses/loss.h"
#include "losses/tried_losses.h"
#include "support/node.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::unique_ptr<Loss> build(const json& recipe, std::int64_t classes = 0) {
  return catalog<Loss>().build(fragment<Loss>(recipe), LossContext{classes});
}

at::Tensor row(std::vector<double> values) { return at::tensor(values, at::kDouble); }
at::Tensor labels(std::vector<std::int64_t> values) { return at::tensor(values, at::kLong); }

double mean(const LossTerms& terms) {
  return terms.values.sum().item<double>() / terms.weights.sum().item<double>();
}

TEST(FastaiDice, WantsALabelForEachPixel) {
  EXPECT_THAT(
      [] {
        (*build("fastai_dice"))(at::zeros({3, 4}), labels({0, 1, 3}));
      },
      ThrowsMessage<Error>("loss: fastai_dice wants scores and a label for each pixel"));
}

TEST(CrossEntropy, OfEqualScoresIsTheLogarithmOfTheClasses) {
  const auto terms = (*build("cross_entropy"))(at::zeros({3, 4}, at::kDouble), labels({0, 1, 3}));
  EXPECT_NEAR(mean(terms), std::log(4.0), 1e-12);
}

TEST(CrossEntropy, WeighsRowsByTheirClass) {
  const auto loss = build({{"type", "cross_entropy"}, {"weight", {1, 3}}});
  const auto terms = (*loss)(at::zeros({2, 2}, at::kDouble), labels({0, 1}));
  EXPECT_TRUE(terms.weights.equal(row({1, 3})));
  EXPECT_TRUE(terms.values.allclose(row({std::log(2.0), 3 * std::log(2.0)})));
}

TEST(CrossEntropy, LeavesIgnoredRowsOutOfValuesAndWeights) {
  const auto loss = build({{"type", "cross_entropy"}, {"label_smoothing", 0.1}});
  const auto terms = (*loss)(at::zeros({2, 2}, at::kDouble), labels({1, -100}));
  EXPECT_TRUE(terms.weights.equal(row({1, 0})));
  EXPECT_EQ(terms.values[1].item<double>(), 0);
}

TEST(CrossEntropy, TakesAllIgnoredRowsAsNoWeight) {
  const auto output = at::zeros({2, 2}, at::kDouble).requires_grad_(true);
  const auto terms = (*build("cross_entropy"))(output, labels({-100, -100}));
  terms.values.sum().backward();
  EXPECT_EQ(terms.weights.sum().item<double>(), 0);
  EXPECT_EQ(output.grad().abs().sum().item<double>(), 0);
}

TEST(CrossEntropy, TakesSmallIntegersAsLabels) {
  const auto terms =
      (*build("cross_entropy"))(at::zeros({2, 2}, at::kFloat), labels({0, 1}).to(at::kByte));
  EXPECT_NEAR(mean(terms), std::log(2.0), 1e-6);
}

TEST(CrossEntropy, OfCertainProbabilitiesIsThatOfTheLabels) {
  const auto output = row({1, 2, 3, 0, 5, 1}).view({2, 3});
  const auto loss = build("cross_entropy");
  const auto soft = (*loss)(output, row({0, 0, 1, 1, 0, 0}).view({2, 3}));
  EXPECT_TRUE(soft.values.allclose((*loss)(output, labels({2, 0})).values));
}

TEST(CrossEntropy, RefusesAWrongNumberOfWeights) {
  EXPECT_THAT(
      [] {
        build({{"type", "cross_entropy"}, {"weight", {1, 2}}}, 3);
      },
      ThrowsMessage<Error>(HasSubstr("2 weights for 3 classes")));
}

TEST(FastaiLabelSmoothing, IsTorchsWithoutClassWeights) {
  const auto output = row({1, 2, 3, 0, 5, 1}).view({2, 3});
  const auto fastai =
      (*build({{"type", "fastai_label_smoothing"}, {"eps", 0.2}}))(output, labels({2, 0}));
  const auto torch =
      (*build({{"type", "cross_entropy"}, {"label_smoothing", 0.2}}))(output, labels({2, 0}));
  EXPECT_TRUE(fastai.values.allclose(torch.values));
  EXPECT_TRUE(fastai.weights.equal(torch.weights));
}

TEST(Nll, IsCrossEntropyOfLogSoftmax) {
  const auto output = row({1, 2, 3, 0, 5, 1}).view({2, 3});
  const auto logs = at::log_softmax(output, 1);
  EXPECT_TRUE((*build("nll"))(logs, labels({2, 0}))
                  .values.allclose((*build("cross_entropy"))(output, labels({2, 0})).values));
}

TEST(Mse, TakesARowOfTargetsForAColumnOfOutputs) {
  const auto terms = (*build("mse"))(row({1, 2}).view({2, 1}), row({1, 4}));
  EXPECT_TRUE(terms.values.equal(row({0, 4}).view({2, 1})));
}

TEST(Mse, RefusesTargetsOfAnotherShape) {
  EXPECT_THAT(
      [] {
        (*build("mse"))(row({1, 2, 3}), row({1, 2}));
      },
      ThrowsMessage<Error>(HasSubstr("targets of shape [2] do not fit")));
}

TEST(Huber, IsSquaredNearAndStraightFarOut) {
  const auto loss = build({{"type", "huber"}, {"delta", 2}});
  const auto terms = (*loss)(row({1, 5}), row({0, 0}));
  EXPECT_TRUE(terms.values.allclose(row({0.5, 2 * (5 - 1)})));
}

TEST(SmoothL1, WithBetaNothingIsL1) {
  const auto loss = build({{"type", "smooth_l1"}, {"beta", 0}});
  EXPECT_TRUE((*loss)(row({3, -2}), row({1, 1})).values.equal(row({2, 3})));
}

TEST(BceWithLogits, WeighsPositivesPerOutput) {
  const auto loss = build({{"type", "bce_with_logits"}, {"pos_weight", {2, 1}}});
  const auto terms = (*loss)(at::zeros({1, 2}, at::kDouble), row({1, 1}).view({1, 2}));
  EXPECT_TRUE(terms.values.allclose(row({2 * std::log(2.0), std::log(2.0)}).view({1, 2})));
}

// What every loss of the catalogue owes the engine.
class EveryLoss : public testing::TestWithParam<TriedLoss> {
 protected:
  LossTerms terms(std::int64_t rows, at::ScalarType type) const {
    const auto given = GetParam().cases.front().given;
    std::vector<std::int64_t> shape{rows, 3};
    if (given == Given::pixel_label) shape.push_back(2);
    output_ = at::full(shape, 0.25, at::TensorOptions(type)).requires_grad_(true);
    auto target = at::full(shape, 0.5);
    if (given == Given::label) target = at::zeros({rows}, at::kLong);
    if (given == Given::pixel_label) target = at::zeros({rows, 2}, at::kLong);
    return (*build(GetParam().name))(output_, target);
  }
  mutable at::Tensor output_;
};

TEST_P(EveryLoss, GivesEmptyTermsWithAGraphForNoRows) {
  const auto empty = terms(0, at::kFloat);
  EXPECT_EQ(empty.values.numel(), 0);
  EXPECT_EQ(empty.weights.numel(), 0);
  ASSERT_TRUE(empty.values.requires_grad());
  empty.values.sum().backward();
  EXPECT_TRUE(output_.grad().defined());
}

TEST_P(EveryLoss, HasWeightsOfTheValuesShapeOutsideTheGraph) {
  const auto some = terms(4, at::kFloat);
  EXPECT_EQ(some.values.sizes(), some.weights.sizes());
  EXPECT_FALSE(some.weights.requires_grad());
}

TEST_P(EveryLoss, WorksInFloat32OnHalfPrecisionOutputs) {
  EXPECT_EQ(terms(2, at::kBFloat16).values.scalar_type(), at::kFloat);
  EXPECT_EQ(terms(2, at::kHalf).values.scalar_type(), at::kFloat);
}

INSTANTIATE_TEST_SUITE_P(Losses, EveryLoss, testing::ValuesIn(tried_losses()),
                         [](const auto& tried) { return tried.param.name; });

TEST(Mixture, TakesBothTargetsByTheirShares) {
  const auto loss = build({{"type", "cross_entropy"}, {"weight", {1, 3}}});
  const auto output = at::zeros({2, 2}, at::kDouble);
  const auto terms = loss_of(*loss, output, {labels({0, 0}), labels({1, 0}), row({0.75, 0.2})});
  EXPECT_TRUE(terms.weights.allclose(row({0.75 * 1 + 0.25 * 3, 1})));
  EXPECT_TRUE(terms.values.allclose(row({1.5 * std::log(2.0), std::log(2.0)})));
}

TEST(Mixture, OfYesAndNoIsTheLossOfTheMixedTarget) {
  const auto loss = build("bce_with_logits");
  const auto output = at::tensor({0.3, -2.0, 1.5, 0.1}, at::kDouble).reshape({2, 2});
  const auto own = at::tensor({1.0, 0.0, 0.0, 1.0}, at::kDouble).reshape({2, 2});
  const auto other = at::tensor({0.0, 0.0, 1.0, 1.0}, at::kDouble).reshape({2, 2});
  const auto share = row({0.6, 0.9});
  const auto mixed = own * share.unsqueeze(1) + other * (1 - share.unsqueeze(1));
  EXPECT_TRUE(
      loss_of(*loss, output, {own, other, share}).values.allclose((*loss)(output, mixed).values));
}

}  // namespace
}  // namespace ddptrain
