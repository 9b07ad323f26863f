// Cross-entropy of a few classes as one node, compared with LibTorch's operators.
#include "losses/few_classes.h"

#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

namespace ddptrain {
namespace {

double apart(const at::Tensor& a, const at::Tensor& b) {
  return a.sub(b).abs().max().item<double>();
}

struct FewRows {
  at::Tensor scores, labels, weight;
};

FewRows few_rows(std::int64_t classes, at::ScalarType type, bool weighs) {
  FewRows all;
  all.scores = at::randn({50, classes}, at::kDouble).mul(3).to(type).requires_grad_(true);
  all.labels = at::randint(classes, {50}, at::kLong);
  all.labels[7] = -100;
  if (weighs) all.weight = at::randn({classes}, at::kDouble).abs().to(type);
  return all;
}

void expect_torch(const FewRows& all, const FewClassesOptions& options, double most) {
  const auto factors = at::randn({50}, all.scores.options());
  const auto terms = few_classes_loss(all.scores, all.labels, all.weight, options);
  ASSERT_TRUE(terms);
  terms->values.mul(factors).sum().backward();
  const auto ours = all.scores.grad().clone();
  all.scores.mutable_grad().reset();
  const auto counted = all.labels.ne(options.ignored);
  const auto values =
      at::cross_entropy_loss(all.scores, all.labels, all.weight, at::Reduction::None,
                             options.ignored, options.label_smoothing)
          .add(at::logsumexp(all.scores, 1).square().mul(counted), options.z_loss);
  values.mul(factors).sum().backward();
  EXPECT_LT(apart(terms->values, values), most);
  EXPECT_LT(apart(ours, all.scores.grad()), most);
}

TEST(FewClasses, HasTheValuesAndGradientsOfTorch) {
  for (const std::int64_t classes : {1, 2, 10, 64})
    for (const bool weighs : {false, true})
      for (const double smoothing : {0.0, 0.1, 1.0})
        for (const double z_loss : {0.0, 1e-2}) {
          const FewClassesOptions options{smoothing, z_loss, -100};
          expect_torch(few_rows(classes, at::kDouble, weighs), options, 1e-12);
          expect_torch(few_rows(classes, at::kFloat, weighs), options, 5e-6);
        }
}

// Two equal scores: log 2 each. The weights are those of the labels, 0 where none counts.
TEST(FewClasses, WeighsRowsByTheirLabels) {
  const auto scores = at::zeros({3, 2}, at::kDouble).requires_grad_(true);
  const auto labels = at::tensor({0L, 1L, 9L}), weight = at::tensor({1.0, 3.0}, at::kDouble);
  const auto terms = few_classes_loss(scores, labels, weight, {0, 0, 9});
  ASSERT_TRUE(terms);
  EXPECT_TRUE(terms->weights.equal(at::tensor({1.0, 3.0, 0.0}, at::kDouble)));
  const double unit = std::log(2.0);
  EXPECT_LT(apart(terms->values, at::tensor({unit, 3 * unit, 0.0}, at::kDouble)), 1e-15);
  terms->values.sum().backward();
  const auto expected = at::tensor({-0.5, 0.5, 1.5, -1.5, 0.0, 0.0}, at::kDouble).view({3, 2});
  EXPECT_LT(apart(scores.grad(), expected), 1e-15);
}

TEST(FewClasses, StaysFiniteWhereScoresAreLarge) {
  const auto scores = at::tensor({1e4, -1e4}, at::kDouble).view({1, 2}).requires_grad_(true);
  const auto terms = few_classes_loss(scores, at::tensor({1L}), {}, {0, 0, -100});
  ASSERT_TRUE(terms);
  EXPECT_EQ(terms->values.item<double>(), 2e4);
}

TEST(FewClasses, LeavesOtherTargetsToLibTorch) {
  const auto scores = at::zeros({2, 3}).requires_grad_(true);
  const FewClassesOptions options{0, 0, -100};
  EXPECT_TRUE(few_classes_loss(scores, at::tensor({0L, 2L}), {}, options));
  EXPECT_FALSE(few_classes_loss(scores, at::tensor({0L, 3L}), {}, options));   // no class
  EXPECT_FALSE(few_classes_loss(scores, at::tensor({0L, -1L}), {}, options));  // no class
  EXPECT_FALSE(few_classes_loss(scores.detach(), at::tensor({0L, 2L}), {}, options));
  EXPECT_FALSE(
      few_classes_loss(at::zeros({2, 65}).requires_grad_(true), at::tensor({0L, 2L}), {}, options));
}

}  // namespace
}  // namespace ddptrain
