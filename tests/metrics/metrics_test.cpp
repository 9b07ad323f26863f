#include <ATen/TensorIndexing.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "base/error.h"
#include "metrics/built_metric.h"
#include "metrics/smooth_loss.h"

namespace ddptrain {
namespace {

using namespace test;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::ThrowsMessage;

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
  const auto metric = build("confusion_matrix", {"cat", "dog"});
  const auto total = metric->terms(output, labels({0, 0, 1}), {});
  EXPECT_THAT(metric->values(total), testing::IsEmpty());
  const auto table = metric->tables(total).at(0);
  EXPECT_THAT(table.rows, ElementsAre("cat", "dog"));
  EXPECT_EQ(table.columns, table.rows);
  EXPECT_THAT(table.cells, ElementsAre(1, 1, 0, 1));
  EXPECT_EQ(find_cell(table, "confusion_matrix/cat/dog"), 1);
  EXPECT_EQ(find_cell(table, "confusion_matrix/cat/bird"), std::nullopt);
}

/// sklearn.metrics.precision_recall_fscore_support([0, 0, 1], [0, 1, 1], labels=[0, 1, 2],
/// zero_division=0)
TEST(ConfusionMatrix, GivesTheScoresOfEachClass) {
  const auto output = scores({1, 0, 0, 0, 1, 0, 0, 1, 0}, 3);
  const auto metric = build("confusion_matrix", {"cat", "dog", "newt"});
  const auto table = metric->tables(metric->terms(output, labels({0, 0, 1}), {})).at(1);
  EXPECT_THAT(table.columns, ElementsAre("precision", "recall", "f1", "support"));
  const std::vector<double> expected{1, 0.5, 2.0 / 3, 2, 0.5, 1, 2.0 / 3, 1, 0, 0, 0, 0};
  EXPECT_THAT(table.cells, testing::Pointwise(testing::DoubleEq(), expected));
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

TEST(F1, RefusesBinaryAveragesOfMoreClasses) {
  EXPECT_THAT(
      [] {
        build("f1", {"a", "b", "c"});
      },
      ThrowsMessage<Error>(HasSubstr("binary is for two classes")));
  EXPECT_THAT(
      [] {
        of(*build("f1"), scores({1, 0, 0}, 3), labels({0}));
      },
      ThrowsMessage<Error>(HasSubstr("binary is for two classes")));
}

TEST(RocAuc, IsTheChanceThatARowOfTheClassScoresHigher) {
  const auto metric = build("roc_auc_binary");
  const auto target = labels({0, 0, 1, 1});
  EXPECT_THAT(of(*metric, scores({3, 0, 2, 0, 1, 0, 0, 0}, 2), target),
              ElementsAre(Pair("roc_auc_binary", 1)));
  EXPECT_THAT(of(*metric, scores({0, 0, 0, 0, 0, 0, 0, 0}, 2), target),
              ElementsAre(Pair("roc_auc_binary", 0.5)));
  EXPECT_TRUE(std::isnan(of(*metric, scores({1, 0, 0, 1}, 2), labels({1, 1})).front().second));
}

TEST(RocAuc, KeepsTheRowsOfEveryBatch) {
  for (const auto* name : {"roc_auc", "average_precision_binary", "spearman"}) {
    const auto metric = build(name);
    const bool numbers = std::string(name) == "spearman";
    const auto output =
        numbers ? scores({3, 1, 4, 1, 5, 9}, 1) : scores({3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8}, 2);
    const auto target = numbers ? scores({2, 7, 1, 8, 2, 8}, 1) : labels({0, 1, 1, 0, 1, 0});
    Metric::Terms total;
    for (const auto& [first, count] : {std::pair{0, 1}, std::pair{1, 3}, std::pair{4, 2}})
      metric->add(
          total, metric->terms(output.narrow(0, first, count), target.narrow(0, first, count), {}));
    EXPECT_EQ(metric->values(total), of(*metric, output, target)) << name;
  }
}

TEST(Metrics, OfConstantClassesAreThoseOfScikitLearn) {
  const auto ones = scores({0, 1, 0, 1, 0, 1, 0, 1}, 2);
  for (const auto* weights : {"none", "linear", "quadratic"}) {
    const auto kappa = build({{"type", "cohen_kappa"}, {"weights", weights}});
    EXPECT_EQ(of(*kappa, ones, labels({0, 0, 1, 1})).front().second, 0) << weights;
    EXPECT_TRUE(std::isnan(of(*kappa, ones, labels({1, 1, 1, 1})).front().second)) << weights;
  }
  EXPECT_EQ(of(*build("mcc"), ones, labels({0, 0, 1, 1})).front().second, 0);
  EXPECT_EQ(of(*build("mcc"), ones, labels({1, 1, 1, 1})).front().second, 0);
}

TEST(MultiLabel, AverageOverSamplesOfTheirOwnScores) {
  const auto output = scores({1, 1, -1, -1, -1, -1, -1, 1, 1}, 3);
  const auto target = scores({1, 0, 0, 0, 0, 0, 0, 1, 1}, 3);
  const auto score = [&](const char* name, const nlohmann::json& more) {
    nlohmann::json recipe{{"type", name}, {"average", "samples"}};
    recipe.update(more);
    return of(*build(recipe), output, target).front().second;
  };
  EXPECT_NEAR(score("precision_multi", json::object()), (1. / 2 + 0 + 1) / 3, 1e-15);
  EXPECT_NEAR(score("recall_multi", json::object()), (1. + 0 + 1) / 3, 1e-15);
  EXPECT_NEAR(score("f1_multi", json::object()), (2. / 3 + 0 + 1) / 3, 1e-15);
  EXPECT_NEAR(score("jaccard_multi", json::object()), (1. / 2 + 0 + 1) / 3, 1e-15);
  EXPECT_NEAR(score("fbeta_multi", {{"beta", 2}}), (5. / 6 + 0 + 1) / 3, 1e-15);
}

TEST(MultiLabel, RefusesTargetsOfAnotherShape) {
  EXPECT_THAT(
      [] {
        of(*build("f1_multi"), scores({1, 0}, 2), labels({1}));
      },
      ThrowsMessage<Error>(HasSubstr("one column for each")));
}

TEST(Metrics, OfClassesRefuseNumbers) {
  for (const auto* name :
       {"accuracy", "error_rate", "f1", "balanced_accuracy", "mcc", "roc_auc", "roc_auc_binary"})
    EXPECT_THAT(([&] {
                  of(*build(name), scores({1, 2}, 2), at::tensor({0.5}, at::kDouble));
                }),
                ThrowsMessage<Error>(HasSubstr("the targets are numbers; rmse")))
        << name;
}

TEST(Metrics, OfNumbersRefuseClasses) {
  for (const auto* name : {"rmse", "mae", "r2", "explained_variance", "pearson", "spearman"})
    EXPECT_THAT(([&] {
                  of(*build(name), scores({1, 2}, 2), labels({1}));
                }),
                ThrowsMessage<Error>(HasSubstr("the targets are classes; accuracy")))
        << name;
}

/// What every metric takes, as scikit-learn and fastai.metrics say; "loss" takes what the loss
/// does.
const std::map<std::string, std::string> kTakes{
    {"accuracy", "takes_class"},
    {"accuracy_multi", "takes_labels"},
    {"average_precision_binary", "takes_class"},
    {"average_precision_multi", "takes_labels"},
    {"balanced_accuracy", "takes_class"},
    {"bits_per_byte", "takes_token"},
    {"cohen_kappa", "takes_class"},
    {"confusion_matrix", "takes_class"},
    {"dice", "takes_class"},
    {"dice_multi", "takes_class"},
    {"error_rate", "takes_class"},
    {"exp_rmspe", "takes_number"},
    {"explained_variance", "takes_number"},
    {"f1", "takes_class"},
    {"f1_multi", "takes_labels"},
    {"fbeta", "takes_class"},
    {"fbeta_multi", "takes_labels"},
    {"foreground_accuracy", "takes_class"},
    {"hamming_loss", "takes_class"},
    {"hamming_loss_multi", "takes_labels"},
    {"jaccard", "takes_class"},
    {"jaccard_coeff", "takes_class"},
    {"jaccard_coeff_multi", "takes_class"},
    {"jaccard_multi", "takes_labels"},
    {"loss", ""},
    {"mae", "takes_number"},
    {"mcc", "takes_class"},
    {"mse", "takes_number"},
    {"msle", "takes_number"},
    {"next_token_accuracy", "takes_token"},
    {"pearson", "takes_number"},
    {"per_class_accuracy", "takes_class"},
    {"per_class_iou", "takes_class"},
    {"perplexity", "takes_class"},
    {"point_distance", "takes_points"},
    {"precision", "takes_class"},
    {"precision_multi", "takes_labels"},
    {"r2", "takes_number"},
    {"recall", "takes_class"},
    {"recall_multi", "takes_labels"},
    {"rmse", "takes_number"},
    {"roc_auc", "takes_class"},
    {"roc_auc_binary", "takes_class"},
    {"roc_auc_multi", "takes_labels"},
    {"spearman", "takes_number"},
    {"top_k", "takes_class"},
};

TEST(Metrics, SayWhichTargetsTheyTake) {
  const auto& metrics = catalog<Metric>();
  EXPECT_EQ(metrics.size(), kTakes.size());
  for (const auto& name : metrics.names())
    EXPECT_TRUE(kTakes.contains(name)) << name << " has no row in tests/metrics/metrics_test.cpp";
  for (const auto& [name, taken] : kTakes) {
    const auto* entry = metrics.find(name);
    ASSERT_NE(entry, nullptr) << name;
    for (const auto* trait : {"takes_class", "takes_labels", "takes_number"})
      EXPECT_EQ(entry->has(trait), taken == trait) << name << " " << trait;
    // Areas under curves want all scores of all units at once: those of pixels are too many.
    const std::set<std::string> of_curves{"average_precision_binary", "roc_auc", "roc_auc_binary"};
    EXPECT_EQ(entry->has("takes_mask"), taken == "takes_class" && !of_curves.contains(name))
        << name;
    const std::set<std::string> of_points{"mae", "mse", "point_distance", "rmse"};
    EXPECT_EQ(entry->has("takes_points"), of_points.contains(name)) << name;
    const std::set<std::string> of_tokens{"bits_per_byte", "next_token_accuracy", "perplexity",
                                          "top_k"};
    EXPECT_EQ(entry->has("takes_token"), of_tokens.contains(name)) << name;
  }
}

}  // namespace
}  // namespace ddptrain
