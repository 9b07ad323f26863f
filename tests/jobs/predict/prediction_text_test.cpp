#include "jobs/predict/prediction_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace ddptrain {
namespace {

PredictionColumns animals() {
  PredictionColumns columns;
  columns.truth = columns.error = true;
  columns.classes = {"cat", "dog, wet", "eel"};
  return columns;
}

PredictionRow sample() {
  PredictionRow row;
  row.name = "a.png";
  row.numbers = {0.25, 0.625, 0.125};
  row.truth = {"cat"};
  row.loss = 1.5;
  return row;
}

PredictionText text(PredictionFormat format, const PredictionColumns& columns) {
  return {format, columns};
}

nlohmann::ordered_json json_of(const PredictionRow& row, const PredictionColumns& columns,
                               const PredictionTitles& titles = {}) {
  const auto line = text(PredictionFormat::jsonl, columns).line(row, titles);
  EXPECT_EQ(line.find('\n'), line.size() - 1) << line;
  return nlohmann::ordered_json::parse(line);
}

TEST(PredictionText, IsACsvRowWithTheProbabilityOfEachClass) {
  const auto csv = text(PredictionFormat::csv, animals());
  EXPECT_EQ(csv.header({}), "path,label,cat,\"dog, wet\",eel,truth,loss,error\n");
  EXPECT_EQ(csv.line(sample(), {}), "a.png,\"dog, wet\",0.25,0.625,0.125,cat,1.5,\n");
}

TEST(PredictionText, OfASpreadsheetHasNoFormulas) {
  auto columns = animals();
  columns.classes[1] = "=1+1";
  columns.reader = CsvReader::spreadsheet;
  auto row = sample();
  row.name = "@a.png";
  row.numbers[0] = -0.25;
  const auto csv = text(PredictionFormat::csv, columns);
  EXPECT_EQ(csv.header({}), "path,label,cat,'=1+1,eel,truth,loss,error\n");
  EXPECT_EQ(csv.line(row, {}), "'@a.png,'=1+1,-0.25,0.625,0.125,cat,1.5,\n");
}

TEST(PredictionText, IsAJsonObjectALine) {
  EXPECT_EQ(text(PredictionFormat::jsonl, animals()).header({}), "");
  EXPECT_EQ(json_of(sample(), animals()),
            nlohmann::ordered_json::parse(R"({"path": "a.png", "label": "dog, wet",
                            "probabilities": {"cat": 0.25, "dog, wet": 0.625, "eel": 0.125},
                            "truth": "cat", "loss": 1.5})"));
}

TEST(PredictionText, NamesTheLikeliestClasses) {
  auto columns = animals();
  columns.top = 2;
  const auto csv = text(PredictionFormat::csv, columns);
  EXPECT_EQ(csv.header({}), "path,label,probability,label_2,probability_2,truth,loss,error\n");
  EXPECT_EQ(csv.line(sample(), {}), "a.png,\"dog, wet\",0.625,cat,0.25,cat,1.5,\n");
  EXPECT_EQ(json_of(sample(), columns)["top"],
            nlohmann::ordered_json::parse(R"([{"label": "dog, wet", "probability": 0.625},
                            {"label": "cat", "probability": 0.25}])"));
  columns.top = 9;  // there are three
  const auto all = text(PredictionFormat::csv, columns);
  EXPECT_EQ(all.line(sample(), {}), "a.png,\"dog, wet\",0.625,cat,0.25,eel,0.125,cat,1.5,\n");
  auto equal = sample();
  equal.numbers = {0.25, 0.375, 0.375};
  EXPECT_EQ(all.line(equal, {}), "a.png,\"dog, wet\",0.375,eel,0.375,cat,0.25,cat,1.5,\n");
}

TEST(PredictionText, HasAnEmptyCellForEachColumnOfWhatCouldNotBeRead) {
  auto row = sample();
  row.numbers.clear();
  row.loss.reset();
  row.error = "no \"image\"";
  const auto csv = text(PredictionFormat::csv, animals());
  EXPECT_EQ(csv.line(row, {}), "a.png,,,,,cat,,\"no \"\"image\"\"\"\n");
  EXPECT_EQ(
      json_of(row, animals()),
      nlohmann::ordered_json::parse(R"({"path": "a.png", "error": "no \"image\"", "truth": "cat",
                            "loss": null})"));
}

TEST(PredictionText, HoldsSeveralLabelsOrNone) {
  auto columns = animals();
  columns.several_labels = true;
  columns.delimiter = ";";
  auto row = sample();
  row.numbers = {0.75, 0.625, 0.5};
  const auto csv = text(PredictionFormat::csv, columns);
  EXPECT_EQ(csv.line(row, {}), "a.png,\"cat;dog, wet\",0.75,0.625,0.5,cat,1.5,\n");
  EXPECT_EQ(json_of(row, columns)["label"],
            nlohmann::ordered_json::parse(R"(["cat", "dog, wet"])"));
  row.numbers = {0, 0, 0};
  EXPECT_EQ(json_of(row, columns)["label"], nlohmann::ordered_json::array());
}

TEST(PredictionText, HoldsValuesAndCellsOfAFormOfTheirOwn) {
  PredictionColumns columns;
  columns.file = true;
  PredictionRow row;
  row.file = "houses.csv";
  row.name = "7";
  row.numbers = {2.5};
  const PredictionTitles plain{"row", {}};
  EXPECT_EQ(text(PredictionFormat::csv, columns).header(plain), "file,row,value\n");
  EXPECT_EQ(text(PredictionFormat::csv, columns).line(row, plain), "houses.csv,7,2.5\n");
  EXPECT_EQ(json_of(row, columns, plain),
            nlohmann::ordered_json::parse(R"({"file": "houses.csv", "row": "7", "value": 2.5})"));
  row.numbers = {std::numeric_limits<double>::quiet_NaN()};
  EXPECT_TRUE(json_of(row, columns, plain)["value"].is_null());
  const PredictionTitles form{"path", {"x", "mask"}};
  row.cells = {"0.5", "a.mask.png"};
  EXPECT_EQ(text(PredictionFormat::csv, columns).line(row, form), "houses.csv,7,0.5,a.mask.png\n");
  EXPECT_EQ(json_of(row, columns, form)["prediction"],
            nlohmann::ordered_json::parse(R"({"x": 0.5, "mask": "a.mask.png"})"));
}

PredictionRow flat() {
  PredictionRow row;
  row.name = "7";
  row.loss = 0.5;
  return row;
}

TEST(PredictionText, ComparesEachOfSeveralTargetsWithItsTruth) {
  PredictionColumns columns;
  columns.truth = true;
  const PredictionTitles titles{"row", {"price", "area"}};
  auto row = flat();
  row.cells = {"2.5", "0.25"};
  row.truth = {"2", ""};
  const auto csv = text(PredictionFormat::csv, columns);
  EXPECT_EQ(csv.header(titles),
            "row,price,area,price_truth,price_error,area_truth,area_error,loss\n");
  EXPECT_EQ(csv.line(row, titles), "7,2.5,0.25,2,0.5,,,0.5\n");
  EXPECT_EQ(json_of(row, columns, titles), nlohmann::ordered_json::parse(R"({"row": "7",
      "prediction": {"price": 2.5, "area": 0.25}, "truth": {"price": 2.0, "area": null},
      "errors": {"price": 0.5, "area": null}, "loss": 0.5})"));
}

TEST(PredictionText, ComparesANumberWithItsTruth) {
  PredictionColumns columns;
  columns.truth = true;
  auto row = flat();
  row.numbers = {1.5};
  row.truth = {"2"};
  const auto csv = text(PredictionFormat::csv, columns);
  EXPECT_EQ(csv.header({"row", {}}), "row,value,truth,value_error,loss\n");
  EXPECT_EQ(csv.line(row, {"row", {}}), "7,1.5,2,-0.5,0.5\n");
  EXPECT_EQ(csv.header({"row", {"price"}}), "row,price,truth,price_error,loss\n");
  EXPECT_EQ(json_of(row, columns, {"row", {}})["value_error"], -0.5);
}

TEST(PredictionText, ReplacesBytesThatAreNoText) {
  auto row = sample();
  row.name = "a\xff.png";
  EXPECT_EQ(json_of(row, animals())["path"], "a\xEF\xBF\xBD.png");
}

}  // namespace
}  // namespace ddptrain
