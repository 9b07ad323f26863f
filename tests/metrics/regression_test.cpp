// Metrics of numbers, points and the pixels of masks.
#include <ATen/TensorIndexing.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "metrics/built_metric.h"

namespace ddptrain {
namespace {

using namespace test;
using nlohmann::json;

TEST(Regression, MergesBatchesAsIfTheyWereOne) {
  const auto output = scores({1.5, 2.5, -3, 4, 1e3}, 1);
  const auto target = scores({1, 2, -2, 5, 990}, 1);
  for (const auto* name : {"r2", "explained_variance", "pearson", "rmse"}) {
    const auto metric = build(name);
    Metric::Terms total;
    metric->add(total, metric->terms(output.narrow(0, 0, 0), target.narrow(0, 0, 0), {}));
    for (const auto& [first, count] : {std::pair{0, 2}, std::pair{2, 1}, std::pair{3, 2}})
      metric->add(
          total, metric->terms(output.narrow(0, first, count), target.narrow(0, first, count), {}));
    EXPECT_NEAR(metric->values(total).front().second, of(*metric, output, target).front().second,
                1e-12)
        << name;
  }
}

/// Of batches of `rows` rows each, added in this or the other order.
double in_batches(const std::string& name, const at::Tensor& output, const at::Tensor& target,
                  std::int64_t rows, bool backwards) {
  const auto metric = build(name);
  std::vector<Metric::Terms> batches;
  for (std::int64_t first = 0; first < output.size(0); first += rows) {
    const auto count = std::min(rows, output.size(0) - first);
    batches.push_back(
        metric->terms(output.narrow(0, first, count), target.narrow(0, first, count), {}));
  }
  if (backwards) std::reverse(batches.begin(), batches.end());
  Metric::Terms total;
  for (const auto& batch : batches) metric->add(total, batch);
  return metric->values(total).front().second;
}

// As scipy.stats.pearsonr 1.17 (a warning and NaN), sklearn.metrics.r2_score and
// explained_variance_score 1.9 say of y = 1, 2, 3, 4, ... and columns of one number: whichever it
// is, and however batches are cut and ordered, which must not decide about what rounding leaves.
TEST(Regression, OfConstantColumnsIsThatOfScipyAndScikitLearn) {
  const auto moving = at::arange(1, 1001, at::kDouble).view({-1, 1});
  const auto expect = [&](const char* name, const at::Tensor& output, const at::Tensor& target,
                          double expected) {
    for (const std::int64_t rows : {1, 7, 333, 1000})
      for (const bool backwards : {false, true}) {
        const auto value = in_batches(name, output, target, rows, backwards);
        EXPECT_EQ(std::isnan(value), std::isnan(expected)) << name << " of batches of " << rows;
        if (std::isnan(expected)) continue;
        EXPECT_NEAR(value, expected, 1e-12) << name;
      }
  };
  for (const double number : {0.1, 3.0, -0.7, 1e8 + 0.1, 1e-9 / 3}) {
    const auto same = at::full({1000, 1}, number, at::kDouble), other = same.add(number);
    expect("pearson", same, moving, NAN);
    expect("spearman", same, moving, NAN);
    expect("explained_variance", same, moving, 0);
    expect("pearson", moving, same, NAN);
    expect("r2", moving, same, 0);
    expect("explained_variance", moving, same, 0);
    expect("pearson", same, same, NAN);
    expect("r2", same, same, 1);
    expect("r2", other, same, 0);
    expect("explained_variance", other, same, 1);
  }
}

// Values that differ in the ninth digit do vary.
TEST(Regression, OfNearlyConstantPredictionsIsNotThatOfConstantOnes) {
  const auto target = scores({1, 2, 3, 4}, 1);
  EXPECT_NEAR(of(*build("pearson"), target.mul(1e-9).add(1), target).front().second, 1, 1e-7);
}

// sklearn.metrics.cohen_kappa_score and matthews_corrcoef of [0, 0, 1, 1] against [1, 1, 1, 1], and
// of one class against itself.
TEST(Spearman, SeesOnlyRanks) {
  EXPECT_THAT(of(*build("spearman"), scores({1, 2, 30, 400}, 1), scores({-5, 0, 0.5, 9}, 1)),
              ElementsAre(Pair("spearman", testing::DoubleNear(1, 1e-15))));
}

// By hand, as scikit-learn with average="samples", zero_division=0: two labels named of which one
// is true; nothing named and nothing true; both that are true.
constexpr std::int64_t kVoid = 255;

/// Classes of the pixels of two images of 2 x 2, two of which are void.
at::Tensor mask() { return labels({0, 1, kVoid, 1, kVoid, 0, 1, 0}).view({2, 2, 2}); }

/// Scores of two classes for each pixel, and of the other pixels as rows.
at::Tensor pixel_scores() {
  return at::tensor({3., 1., 4., 1., 5., 9., 2., 6., 5., 3., 5., 8., 9., 7., 9., 3.}, at::kDouble)
      .view({2, 2, 2, 2});
}
at::Tensor known_rows() { return pixel_scores().movedim(1, 3).index({mask().ne(kVoid)}); }

TEST(Masks, AreScoredWithoutTheirVoidPixels) {
  const auto known = mask().index({mask().ne(kVoid)});
  for (const auto& name : catalog<Metric>().names()) {
    if (!catalog<Metric>().find(name)->has("takes_mask") || name == "perplexity") continue;
    SCOPED_TRACE(name);
    json recipe{{"type", name}};
    if (name == "top_k") recipe["k"] = 1;
    if (name == "fbeta") recipe["beta"] = 2;
    const auto of_mask =
        catalog<Metric>().build(fragment<Metric>(recipe), MetricContext{.void_code = kVoid});
    const auto sums = of_mask->terms(pixel_scores(), mask(), {});
    EXPECT_EQ(sums, build(recipe)->terms(known_rows(), known, {}));
    EXPECT_EQ(of_mask->terms(pixel_scores(), at::full({2, 2, 2}, kVoid, at::kLong), {}),
              Metric::Terms(sums.size(), 0));
  }
}

// Class 0: one pixel of two that were taken for it or are it; class 1: 2 of 4; class 2 of none.
TEST(PerClassIou, NamesClassesAndLeavesAbsentOnesWithoutANumber) {
  const auto output = scores({1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0}, 3).t().view({1, 3, 5});
  const auto target = labels({0, 0, 1, 1, 1}).view({1, 5});
  const auto values = of(*build("per_class_iou", {"road", "car", "sky"}), output, target);
  ASSERT_EQ(values.size(), 3U);
  EXPECT_THAT(values[0], Pair("iou/road", 1.0 / 3));
  EXPECT_THAT(values[1], Pair("iou/car", 0.5));
  EXPECT_EQ(values[2].first, "iou/sky");
  EXPECT_TRUE(std::isnan(values[2].second));
}

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// Two samples of two points; distances 5, 0 and 13 of those that are known.
at::Tensor true_points() {
  return at::tensor({0., 0., 1., 1., kMissing, 2., 5., 12.}, at::kDouble).view({2, 2, 2});
}
at::Tensor predicted_points() { return scores({3, 4, 1, 1, 7, 7, 0, 0}, 4); }

TEST(PointDistance, IsEuclidsOverThePointsThatAreKnown) {
  EXPECT_THAT(of(*build("point_distance"), predicted_points(), true_points()),
              ElementsAre(Pair("point_distance", 6)));
  const auto deep = predicted_points().view({2, 2, 2});
  EXPECT_EQ(of(*build("point_distance"), deep, true_points()).front().second, 6);
}

// An image of 200 x 100 is 2 x 2 in the targets' units.
TEST(PointDistance, InPixelsKnowsTheImage) {
  const auto metric =
      catalog<Metric>().build(fragment<Metric>({{"type", "point_distance"}, {"unit", "pixels"}}),
                              MetricContext{.sample = {3, 100, 200}});
  const auto target = at::zeros({1, 1, 2}, at::kDouble);
  EXPECT_NEAR(of(*metric, scores({0.03, 0.08}, 2), target).front().second, 5, 1e-12);
  EXPECT_THAT(
      [] {
        build({{"type", "point_distance"}, {"unit", "pixels"}});
      },
      ThrowsMessage<Error>(HasSubstr("wants images of one size")));
}

TEST(Regression, LeavesMissingTargetsOut) {
  const auto output = scores({1.5, 9, 2.5, -3, 4, 7}, 2);
  const auto target = at::tensor({1., kMissing, 2., 2.5, 5., kMissing}, at::kDouble).view({3, 2});
  const auto known = scores({1.5, 2.5, -3, 4}, 1), known_target = scores({1, 2, 2.5, 5}, 1);
  for (const auto* name : {"mae", "mse", "rmse", "r2", "explained_variance", "pearson", "spearman"})
    EXPECT_NEAR(of(*build(name), output, target).front().second,
                of(*build(name), known, known_target).front().second, 1e-14)
        << name;
}

}  // namespace
}  // namespace ddptrain
