// Numbers with two names each, such as a confusion matrix: too many to be metrics of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

/// Whose scores numbers are: "best weights" of step 1200, "last evaluation" of step 20.
struct ScoredWeights {
  std::string name;       // empty: not known
  std::int64_t step = 0;  // when the weights were so; below 0: not known
};

/// "best weights, step 1200"; empty where they are not known.
std::string to_text(const ScoredWeights& weights);

struct NamedTable {
  enum class Kind { confusion, scores };
  Kind kind = Kind::scores;
  std::string name;    // "valid/confusion_matrix"; a cell is name/row/column
  std::string file;    // "confusion": what its file is called, without ".csv"
  std::string corner;  // above the names of the rows
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::vector<double> cells;  // row by row
  ScoredWeights weights = {};

  double at(std::size_t row, std::size_t column) const {
    return cells.at(row * columns.size() + column);
  }
};

/// A cell by its full name, "valid/confusion_matrix/cat/dog"; empty where the table has none such.
std::optional<double> find_cell(const NamedTable& table, std::string_view name);

/// The whole table with a header; NaN is an empty cell. The weights are named above the names of
/// the rows of a confusion matrix, which stays square, and in two columns "weights" and "step" of
/// scores.
std::string to_csv(const NamedTable& table);

/// For people: the whole table where it fits into `columns` (0: any width) and a screen's height,
/// else what is most telling, under a line that says so: the most confused pairs, the classes with
/// the lowest scores.
std::vector<std::string> to_lines(const NamedTable& table, std::size_t columns);

}  // namespace ddptrain
