#include <ATen/TensorIndexing.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "losses/loss.h"
#include "losses/tried_losses.h"
#include "support/node.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::unique_ptr<Loss> build(const json& recipe, const LossContext& context = {}) {
  return catalog<Loss>().build(fragment<Loss>(recipe), context);
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

// Three samples of one class and one of the other: 4 / (2 * 3) and 4 / (2 * 1).
TEST(ClassWeights, BalanceTheSamplesOfTraining) {
  const LossContext context{.classes = 2, .class_counts = [] {
                              return std::vector<std::int64_t>{3, 1};
                            }};
  const auto output = at::arange(4, at::kDouble).view({2, 2}).log_softmax(1);
  for (const auto* name : {"cross_entropy", "nll", "focal"}) {
    const auto balanced = build({{"type", name}, {"class_weights", "balanced"}}, context);
    const auto written = build({{"type", name}, {"weight", {2 / 3., 2}}}, context);
    const auto terms = (*balanced)(output, labels({0, 1}));
    EXPECT_TRUE(terms.values.equal((*written)(output, labels({0, 1})).values)) << name;
    EXPECT_FALSE(terms.values.equal((*build(name, context))(output, labels({0, 1})).values))
        << name;
  }
}

TEST(ClassWeights, CannotBalanceAClassWithoutASample) {
  const LossContext context{.classes = 2, .class_counts = [] {
                              return std::vector<std::int64_t>{3, 0};
                            }};
  EXPECT_THAT(
      [&] {
        build({{"type", "nll"}, {"class_weights", "balanced"}}, context);
      },
      ThrowsMessage<Error>(HasSubstr("class 1, of which there is no training sample")));
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
        build({{"type", "cross_entropy"}, {"weight", {1, 2}}}, {.classes = 3});
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

// A difference of 3 is one of 1.5 in units of 2: below the delta of 2, above that of 1.
TEST(LossesOfNumbers, AreOfNumbersDividedByTheirScale) {
  const auto value = [](const json& recipe) { return mean((*build(recipe))(row({5}), row({2}))); };
  EXPECT_DOUBLE_EQ(value({{"type", "mse"}, {"scale", 2}}), 1.5 * 1.5);
  EXPECT_DOUBLE_EQ(value({{"type", "l1"}, {"scale", 2}}), 1.5);
  EXPECT_DOUBLE_EQ(value({{"type", "huber"}, {"scale", 2}, {"delta", 2}}), 1.5 * 1.5 / 2);
  EXPECT_DOUBLE_EQ(value({{"type", "smooth_l1"}, {"scale", 2}}), 1.5 - 0.5);
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

constexpr std::int64_t kVoid = 255;

at::Tensor wavy(std::vector<std::int64_t> shape) {
  std::int64_t count = 1;
  for (const auto size : shape) count *= size;
  return at::arange(count, at::kDouble).mul(0.7).sin().mul(2).reshape(shape);
}

/// Classes of the pixels of two images of 2 x 3, some of them void.
at::Tensor mask() {
  return labels({0, 1, kVoid, 2, kVoid, 0, 1, 1, 2, kVoid, 0, 2}).view({2, 2, 3});
}

class LossOfMasks : public testing::TestWithParam<const char*> {};

// The pixels that are not void, as rows of their own, have the same losses, weights and gradients.
TEST_P(LossOfMasks, LeavesVoidPixelsOut) {
  const auto loss = build(GetParam(), {.void_code = kVoid});
  const auto output = wavy({2, 3, 2, 3}).log_softmax(1).requires_grad_(true);
  const auto terms = (*loss)(output, mask());
  terms.values.sum().backward();
  const auto known = mask().ne(kVoid);
  const auto rows = output.detach().movedim(1, 3).index({known}).requires_grad_(true);
  const auto expected = (*build(GetParam()))(rows, mask().index({known}));
  expected.values.sum().backward();
  EXPECT_EQ(terms.weights.sizes(), mask().sizes());
  EXPECT_EQ(terms.weights.sum().item<double>(), 9);
  EXPECT_TRUE(terms.weights.index({known.logical_not()}).eq(0).all().item<bool>());
  EXPECT_NEAR(terms.values.sum().item<double>(), expected.values.sum().item<double>(), 1e-12);
  const auto gradient = output.grad().movedim(1, 3);
  EXPECT_TRUE(gradient.index({known}).allclose(rows.grad(), 1e-12, 1e-14));
  EXPECT_TRUE(gradient.index({known.logical_not()}).eq(0).all().item<bool>());
}

INSTANTIATE_TEST_SUITE_P(Losses, LossOfMasks,
                         testing::Values("cross_entropy", "nll", "focal", "fastai_label_smoothing"),
                         [](const auto& name) { return std::string(name.param); });

// (1 - p)^(1/2) has no gradient at p = 1, and a void pixel none at all.
TEST(Focal, HasAGradientWhereAPixelIsVoid) {
  const auto output = wavy({1, 3, 1, 2}).requires_grad_(true);
  const auto loss = build({{"type", "focal"}, {"gamma", 0.5}}, {.void_code = kVoid});
  (*loss)(output, labels({1, kVoid}).view({1, 1, 2})).values.sum().backward();
  EXPECT_TRUE(output.grad().isfinite().all().item<bool>());
  EXPECT_NE(output.grad().abs().sum().item<double>(), 0);
}

TEST(CrossEntropy, PrefersTheWrittenLabelToTheCodeOfTheData) {
  const auto loss = build({{"type", "cross_entropy"}, {"ignore_index", 1}}, {.void_code = kVoid});
  const auto terms = (*loss)(at::zeros({2, 2}, at::kDouble), labels({0, 1}));
  EXPECT_TRUE(terms.weights.equal(row({1, 0})));
}

// 1 - (2 * 0.5 + s) / (1 + 1 + s) of class 0 and of class 1, which have one pixel each; the third
// is void.
TEST(FastaiDice, CountsAVoidPixelNowhere) {
  const auto loss = build({{"type", "fastai_dice"}, {"smooth", 0}}, {.void_code = kVoid});
  const auto terms = (*loss)(at::zeros({1, 2, 3}, at::kDouble), labels({0, kVoid, 1}).view({1, 3}));
  EXPECT_TRUE(terms.values.allclose(row({0.5, 0.5}).view({1, 2})));
}

// Two images, the first of which has two void pixels of four: its cross-entropy is that of two
// pixels, and its Dice counts twice, the other's four times.
TEST(Combined, WeighsEachLossByThePixelsOfTheFirst) {
  const auto output = wavy({2, 3, 4});
  const auto target = labels({0, kVoid, 2, kVoid, 1, 1, 0, 2}).view({2, 4});
  const LossContext context{.void_code = kVoid};
  const auto loss = build(
      {{"type", "combined"}, {"losses", {"cross_entropy", "fastai_dice"}}, {"weights", {2, 0.5}}},
      context);
  const auto terms = (*loss)(output, target);
  const auto entropy = (*build("cross_entropy", context))(output, target).values.sum(1);
  const auto dice = (*build("fastai_dice", context))(output, target).values.mean(1);
  EXPECT_TRUE(terms.weights.equal(row({2, 4})));
  EXPECT_TRUE(terms.values.allclose(entropy * 2 + dice * row({2, 4}) * 0.5));
}

TEST(Combined, OfOneLossHasItsMean) {
  const auto output = wavy({4, 3});
  const auto loss = build({{"type", "combined"}, {"losses", {"cross_entropy"}}});
  const auto target = labels({0, 1, 2, 1});
  EXPECT_NEAR(mean((*loss)(output, target)), mean((*build("cross_entropy"))(output, target)),
              1e-15);
}

class LossOfNumbers : public testing::TestWithParam<const char*> {};

TEST_P(LossOfNumbers, LeavesMissingTargetsOut) {
  const auto missing = std::numeric_limits<double>::quiet_NaN();
  const auto output = row({1, 2, -3, 0.5}).view({2, 2}).requires_grad_(true);
  const auto terms = (*build(GetParam()))(output, row({0, missing, missing, 2}).view({2, 2}));
  terms.values.sum().backward();
  EXPECT_TRUE(terms.weights.equal(row({1, 0, 0, 1}).view({2, 2})));
  const auto known = (*build(GetParam()))(row({1, 0.5}), row({0, 2}));
  EXPECT_TRUE(terms.values.equal(
      at::stack({known.values[0], row({0, 0})[0], row({0, 0})[0], known.values[1]}).view({2, 2})));
  EXPECT_EQ(output.grad()[0][1].item<double>(), 0);
  EXPECT_EQ(output.grad()[1][0].item<double>(), 0);
  EXPECT_NE(output.grad()[0][0].item<double>(), 0);
}

TEST_P(LossOfNumbers, TakesPointsForPairsOfOutputs) {
  const auto points = wavy({2, 3, 2});
  const auto flat = (*build(GetParam()))(points.reshape({2, 6}), points.add(0.5));
  const auto deep = (*build(GetParam()))(points, points.add(0.5).reshape({2, 6}));
  EXPECT_EQ(flat.values.sizes(), (at::IntArrayRef{2, 6}));
  EXPECT_TRUE(flat.values.view({2, 3, 2}).equal(deep.values));
}

INSTANTIATE_TEST_SUITE_P(Losses, LossOfNumbers, testing::Values("mse", "l1", "smooth_l1", "huber"),
                         [](const auto& name) { return std::string(name.param); });

// What every loss of the catalog owes the engine.
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
