#include "report/class_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ddptrain {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pointwise;

SampleOutcome sample(double truth, double predicted) {
  SampleOutcome sample;
  sample.truth = truth;
  sample.predicted = predicted;
  sample.probability = 0.9;
  return sample;
}

/// The example of sklearn.metrics.classification_report: y_true [0, 1, 2, 2, 2], y_pred
/// [0, 0, 2, 2, 1].
ReportRun example() {
  ReportRun run;
  run.samples.rows = {sample(0, 0), sample(1, 0), sample(2, 2), sample(2, 2), sample(2, 1)};
  run.samples.of = 5;
  run.samples.classes = {"class 0", "class 1", "class 2"};
  return run;
}

TEST(ClassTables, OfSamplesAreThoseOfScikitLearn) {
  const auto tables = class_tables(example());
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0].kind, NamedTable::Kind::confusion);
  EXPECT_EQ(tables[0].name, "valid, 5 samples");
  EXPECT_THAT(tables[0].cells, ElementsAre(1, 0, 0, 1, 0, 0, 0, 1, 2));
  EXPECT_THAT(tables[1].columns, ElementsAre("precision", "recall", "f1", "support"));
  EXPECT_THAT(tables[1].cells, Pointwise(DoubleNear(1e-12), {0.5, 1.0, 2.0 / 3, 1.0,  //
                                                             0.0, 0.0, 0.0, 1.0,      //
                                                             1.0, 2.0 / 3, 0.8, 3.0}));
}

TEST(ClassTables, OfAPartOfTheSamplesSaySo) {
  auto run = example();
  run.samples.of = 5000;
  EXPECT_EQ(class_tables(run)[0].name, "valid, 5 of 5000 samples");
}

TEST(ClassTables, OfAMetricComeFirst) {
  auto run = example();
  run.history.tables.push_back(
      {NamedTable::Kind::confusion, "valid/confusion_matrix", "confusion", "", {"a"}, {"a"}, {1}});
  const auto tables = class_tables(run);
  ASSERT_EQ(tables.size(), 2u);
  EXPECT_EQ(tables[0].name, "valid/confusion_matrix");
  EXPECT_EQ(tables[1].kind, NamedTable::Kind::scores);
}

TEST(ClassTables, LeaveOutSamplesThatDoNotCount) {
  auto run = example();
  run.samples.rows[0].loss = NAN;
  run.samples.rows[1].truth = -100;
  EXPECT_THAT(class_tables(run)[0].cells, ElementsAre(0, 0, 0, 0, 0, 0, 0, 1, 2));
}

TEST(ClassTables, OfThousandsOfClassesAreNone) {
  auto run = example();
  run.samples.classes.resize(5000, "name");
  EXPECT_THAT(class_tables(run), IsEmpty());
  run.samples.classes.clear();
  run.samples.rows[0].truth = 4999;
  EXPECT_THAT(class_tables(run), IsEmpty());
}

TEST(ClassTables, OfNumbersAreNone) {
  auto run = example();
  for (auto& each : run.samples.rows) each.probability = NAN;
  EXPECT_THAT(class_tables(run), IsEmpty());
}

}  // namespace
}  // namespace ddptrain
