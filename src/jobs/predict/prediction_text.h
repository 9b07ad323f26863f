// Predictions as text: rows of CSV, or JSON objects, one a line.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/quoting.h"

namespace ddptrain {

enum class PredictionFormat { csv, jsonl };
std::span<const std::string_view> names(PredictionFormat);

/// What is written for every sample.
struct PredictionColumns {
  bool file = false;                 // which of several tables a row is of
  bool truth = false;                // what is known as written, errors of numbers, and the loss
  bool error = false;                // why a sample could not be read
  std::vector<std::string> classes;  // none: numbers
  bool several_labels = false;       // of a sample
  std::string delimiter = " ";       // between them
  CsvReader reader = CsvReader::program;
  std::int64_t top = 0;  // so many likeliest classes; 0: the probability of each
};

/// What a kind of data calls its samples, and the columns of predictions that have a form of their
/// own (none: classes or a value).
struct PredictionTitles {
  std::string name = "path";
  std::vector<std::string> form;
};

struct PredictionRow {
  std::string file, name;
  std::vector<double> numbers;     // the probability of each class, or values
  std::vector<std::string> cells;  // of a form of its own
  std::vector<std::string> truth;  // the label, or the number of each target; empty: unknown
  std::optional<double> loss;
  std::string error;  // not empty: nothing was predicted
};

class PredictionText {
 public:
  PredictionText(PredictionFormat format, PredictionColumns columns)
      : format_(format), columns_(std::move(columns)) {}

  const PredictionColumns& columns() const { return columns_; }
  /// The first line of a CSV; nothing of JSON lines.
  std::string header(const PredictionTitles& titles) const;
  std::string line(const PredictionRow& row, const PredictionTitles& titles) const;

 private:
  std::string csv(const PredictionRow& row, const PredictionTitles& titles) const;
  std::string json(const PredictionRow& row, const PredictionTitles& titles) const;
  void add_labels(Json& line, const std::vector<double>& numbers) const;
  std::vector<std::string> predicted_titles(const PredictionTitles& titles) const;
  std::vector<std::string> truth_titles(const PredictionTitles& titles) const;
  std::vector<std::string> truth_cells(const PredictionRow& row,
                                       const PredictionTitles& titles) const;
  void add_truth(Json& line, const PredictionRow& row, const PredictionTitles& titles) const;
  std::vector<std::string> predicted_cells(const PredictionRow& row) const;
  std::vector<std::size_t> labels(const std::vector<double>& numbers) const;
  std::vector<std::size_t> likeliest(const std::vector<double>& numbers) const;

  PredictionFormat format_;
  PredictionColumns columns_;
};

}  // namespace ddptrain
