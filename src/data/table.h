// Columns of a table made ready for a network, as fastai.tabular.core does: Categorify, FillMissing
// and Normalize, fitted on the training rows alone. Torch-free.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "data/csv.h"
#include "data/split.h"

namespace ddptrain {

enum class Fill { median, constant, mode };
enum class TableTask { automatic, classification, regression };
/// What a name becomes that only held-out rows have: like a missing one, a class of its own (as
/// fastai does, whose classes are those of all rows), or an Error.
enum class Unseen { missing, own_class, error };
std::span<const std::string_view> names(Fill);
std::span<const std::string_view> names(TableTask);
std::span<const std::string_view> names(Unseen);

/// Which rows are held out: a share of them, those that a column says, or a list (rows count from 0
/// below the header).
struct TableValid {
  std::optional<double> fraction = 0.2;
  std::optional<std::string> column;
  std::vector<std::int64_t> rows;
  std::int64_t seed = 42;
  SplitRule order = SplitRule::philox;
  void fields(Fields& f);
};

struct TableOptions {
  std::string file;
  std::string target;
  TableTask task = TableTask::automatic;
  Auto<std::vector<std::string>> categories;
  Auto<std::vector<std::string>> continuous;
  std::vector<std::string> drop;
  std::vector<std::string> missing{""};
  Unseen unseen = Unseen::missing;
  Fill fill = Fill::median;
  double fill_value = 0;
  bool add_na = true;
  bool normalize = true;
  TableValid valid;
  void fields(Fields& f);
};

/// A column of names as numbers: classes[0], "#na#", stands for what is missing or was never met in
/// training. A column that tells which cells of another were missing has that one's index.
struct CategoryColumn {
  std::string name;
  std::vector<std::string> classes;
  std::size_t column = 0;
  bool tells_missing = false;
};

/// Cells become (cell - mean) / deviation (divisor N, plus 1e-7) after missing ones became `fill`.
struct ContinuousColumn {
  std::string name;
  std::size_t column = 0;
  std::optional<double> fill;  // where training rows lack some
  double mean = 0;
  double deviation = 1;
};

/// Rows of one split, in order of the file: codes and numbers row after row.
struct TableRows {
  std::vector<std::size_t> rows;  // of the file, from 0
  std::vector<std::int64_t> categories;
  std::vector<float> continuous;
  std::vector<std::int64_t> labels;  // of a classification
  std::vector<float> numbers;        // of a regression
};

struct Table {
  std::vector<CategoryColumn> categories;
  std::vector<ContinuousColumn> continuous;
  std::vector<std::string> target_classes;  // empty: a regression
  std::array<TableRows, 2> splits;          // train, valid
};

/// Errors (Exit::data) name file, line and column: a cell that is not a number, a missing target, a
/// missing number where no training row lacks one, a class of the target that is only in the valid
/// rows. Unknown columns are Errors (Exit::recipe) with the nearest name.
Table read_table(const TableOptions& options);

}  // namespace ddptrain
