#include "report/samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "runs/samples_json.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;

SampleOutcome of_class(double truth, double predicted, double probability) {
  SampleOutcome sample;
  sample.truth = truth;
  sample.predicted = predicted;
  sample.probability = probability;
  return sample;
}

TEST(CalibrationError, IsTheWeightedGapBetweenConfidenceAndAccuracy) {
  // Guo et al., equation 3, by hand: 2/4 |0.5 - 0.95| + 2/4 |1 - 0.55|.
  const auto bins = confidence_bins(
      {of_class(1, 1, 0.95), of_class(0, 1, 0.95), of_class(2, 2, 0.55), of_class(3, 3, 0.55)}, 10);
  EXPECT_EQ(bins[9].count, 2);
  EXPECT_EQ(bins[5].count, 2);
  EXPECT_NEAR(calibration_error(bins), 0.45, 1e-12);
}

TEST(BinaryCurves, AreThoseOfScikitLearn) {
  // The example of sklearn.metrics.roc_auc_score and average_precision_score: y_true [0, 0, 1, 1],
  // scores [0.1, 0.4, 0.35, 0.8].
  const auto curves = binary_curves(
      {of_class(0, 0, 0.9), of_class(0, 0, 0.6), of_class(1, 0, 0.65), of_class(1, 1, 0.8)});
  EXPECT_NEAR(curves.area, 0.75, 1e-12);
  EXPECT_NEAR(curves.average_precision, 0.8333333333, 1e-9);
  EXPECT_THAT(curves.roc.x, ElementsAre(0, 0, 0.5, 0.5, 1));
  EXPECT_THAT(curves.roc.y, ElementsAre(0, 0.5, 0.5, 1, 1));
}

TEST(BinaryCurves, EqualScoresAreOneThreshold) {
  const auto curves = binary_curves({of_class(0, 1, 0.5), of_class(1, 1, 0.5)});
  EXPECT_NEAR(curves.area, 0.5, 1e-12);
}

TEST(SamplesOfAReport, AreThoseThatCanBeRead) {
  ReportRun run;
  run.samples =
      samples_of_text(R"({"of": 2, "classes": ["a", "b"], "rows": [[0, 0.1, 0, 0, 0.9, 0.1],
    [1, null, 1, 0, 0.6, 0.4]], "shown": {"1": {"name": "x.png", "cells": [["label", "b"]]}}})");
  ASSERT_EQ(run.samples.rows.size(), 2u);
  EXPECT_TRUE(has_classes(run));
  EXPECT_TRUE(std::isnan(run.samples.rows[1].loss));
  EXPECT_EQ(run.samples.shown.at(1).name, "x.png");
  EXPECT_EQ(to_text(run.samples.weights), "last evaluation");
  EXPECT_THROW(samples_of_text(R"({"rows": [[0, 0.1)"), Error);
}

}  // namespace
}  // namespace ddptrain
