#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "metrics/metric.h"
#include "metrics/smooth_loss.h"
#include "support/node.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::ThrowsMessage;

std::unique_ptr<Metric> build(const json& recipe, std::vector<std::string> classes = {}) {
  return catalog<Metric>().build(fragment<Metric>(recipe), MetricContext{std::move(classes)});
}

at::Tensor scores(std::vector<double> values, std::int64_t classes) {
  return at::tensor(values, at::kDouble).view({-1, classes});
}
at::Tensor labels(std::vector<std::int64_t> values) { return at::tensor(values, at::kLong); }

Metric::Values of(const Metric& metric, const at::Tensor& output, const at::Tensor& target) {
  Metric::Terms total;
  metric.add(total, metric.terms(output, target, {}));
  return metric.values(total);
}

TEST(Accuracy, LetsTheFirstOfEqualScoresWin) {
  const auto output = scores({1, 1, 0, 1, 1, 1}, 3);
  EXPECT_THAT(of(*build("accuracy"), output, labels({0, 1})), ElementsAre(Pair("accuracy", 0.5)));
}

TEST(Accuracy, CountsEverySampleOnceHoweverBatchesAreCut) {
  const auto metric = build("accuracy");
  const auto output = scores({1, 0, 0, 1, 1, 0}, 2);
  const auto target = labels({0, 1, 1});
  Metric::Terms total;
  metric->add(total, metric->terms(output.narrow(0, 0, 2), target.narrow(0, 0, 2), {}));
  metric->add(total, metric->terms(output.narrow(0, 2, 1), target.narrow(0, 2, 1), {}));
  EXPECT_EQ(metric->values(total), of(*metric, output, target));
}

TEST(Accuracy, OfNothingIsNotANumber) {
  const auto values = of(*build("accuracy"), at::zeros({0, 3}), at::zeros({0}, at::kLong));
  EXPECT_TRUE(std::isnan(values.front().second));
  EXPECT_TRUE(std::isnan(build("accuracy")->values({}).front().second));
}

TEST(Accuracy, ReadsProbabilitiesAsTheirLargestClass) {
  const auto output = scores({1, 0, 0, 1}, 2);
  EXPECT_EQ(of(*build("accuracy"), output, scores({0.9, 0.1, 0.6, 0.4}, 2)).front().second, 0.5);
}

TEST(Accuracy, RefusesTargetsThatDoNotFit) {
  EXPECT_THAT(
      [] {
        of(*build("accuracy"), scores({1, 0, 0, 1}, 2), labels({0}));
      },
      ThrowsMessage<Error>(HasSubstr("targets of shape [1] do not fit")));
}

TEST(Accuracy, FindsClassesOnTheLastAxisWhereAsked) {
  const auto output = scores({1, 0, 0, 1, 1, 0, 0, 1}, 2).view({2, 2, 2});
  const auto target = labels({0, 1, 1, 1}).view({2, 2});
  const auto metric = build({{"type", "accuracy"}, {"axis", -1}});
  EXPECT_EQ(of(*metric, output, target).front().second, 0.75);
}

TEST(ErrorRate, IsWhatAccuracyLeaves) {
  const auto output = scores({1, 0, 0, 1, 1, 0}, 2);
  EXPECT_EQ(of(*build("error_rate"), output, labels({0, 1, 1})).front().second, 1.0 / 3);
}

TEST(TopK, CountsTargetsAmongTheLargestScores) {
  const auto output = scores({5, 4, 3, 2, 5, 4, 3, 2}, 4);
  const auto metric = build({{"type", "top_k"}, {"k", 2}});
  EXPECT_THAT(of(*metric, output, labels({1, 2})), ElementsAre(Pair("top_2", 0.5)));
}

TEST(TopK, OfOneIsAccuracyInTiesToo) {
  const auto output = scores({1, 1, 0, 1, 1, 1, 0, 2, 2}, 3);
  const auto target = labels({1, 0, 1});
  const auto one = build({{"type", "top_k"}, {"k", 1}});
  EXPECT_EQ(of(*one, output, target).front().second,
            of(*build("accuracy"), output, target).front().second);
}

TEST(TopK, NeverCountsAScoreThatIsNotANumber) {
  const auto output = scores({std::numeric_limits<double>::quiet_NaN(), 0}, 2);
  EXPECT_EQ(of(*build({{"type", "top_k"}, {"k", 1}}), output, labels({0})).front().second, 0);
}

TEST(TopK, RefusesMoreThanTheClasses) {
  EXPECT_THAT(
      [] {
        build("top_k", {"a", "b", "c"});
      },
      ThrowsMessage<Error>(HasSubstr("5 is more than the 3 classes")));
}

TEST(PerClassAccuracy, NamesClassesAndLeavesAbsentOnesWithoutANumber) {
  const auto output = scores({1, 0, 0, 1, 0, 0}, 3);
  const auto values =
      of(*build("per_class_accuracy", {"cat", "dog", "owl"}), output, labels({0, 1}));
  ASSERT_EQ(values.size(), 3U);
  EXPECT_THAT(values[0], Pair("accuracy/cat", 1));
  EXPECT_THAT(values[1], Pair("accuracy/dog", 0));
  EXPECT_TRUE(std::isnan(values[2].second));
}

TEST(ConfusionMatrix, CountsTrueClassesInRows) {
  const auto output = scores({1, 0, 0, 1, 0, 1}, 2);
  EXPECT_THAT(
      of(*build("confusion_matrix", {"cat", "dog"}), output, labels({0, 0, 1})),
      ElementsAre(Pair("confusion_matrix/cat/cat", 1), Pair("confusion_matrix/cat/dog", 1),
                  Pair("confusion_matrix/dog/cat", 0), Pair("confusion_matrix/dog/dog", 1)));
}

TEST(MeanLoss, DividesTheSumOfValuesByTheSumOfWeights) {
  const auto metric = build("loss");
  const LossTerms terms{at::tensor({1.0F, 4.0F}), at::tensor({1.0F, 3.0F})};
  EXPECT_THAT(metric->values(metric->terms({}, {}, terms)), ElementsAre(Pair("loss", 1.25)));
}

TEST(SmoothLoss, OfOneValueIsThatValue) {
  SmoothLoss smooth;
  EXPECT_TRUE(std::isnan(smooth.value()));
  smooth.add(3);
  EXPECT_NEAR(smooth.value(), 3, 1e-12);
}

}  // namespace
}  // namespace ddptrain
