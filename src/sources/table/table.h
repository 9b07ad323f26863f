// Rows of a table made ready for a network: names as codes, numbers filled in and normalized.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sources/classes.h"
#include "sources/table/table_fit.h"
#include "sources/table/table_options.h"

namespace ddptrain {

/// Rows of one split, in order of the split: codes and numbers row after row.
struct TableRows {
  std::vector<std::size_t> rows;  // of the file, from 0
  std::vector<std::int64_t> categories;
  std::vector<float> continuous;
  std::vector<std::int64_t> labels;  // of a classification
  std::vector<float> numbers;        // of a regression, one of each target a row; NaN: missing
};

/// A column in some of whose rows a name stands that no training row has.
struct UnseenNames {
  std::string column;
  std::int64_t rows = 0;
  std::int64_t names = 0;
  std::size_t split = 1;
};

struct Table {
  TableFit fit;
  std::array<TableRows, 2> splits;  // train, valid
  RowErrors errors;                 // of rows of the file that cannot be predicted
  std::vector<UnseenNames> unseen;  // what became "#na#"
};

/// A line about each: "3 rows have a 'user' that no training row has (2 of them); ...".
std::vector<std::string> unseen_notes(const Table& table);

/// Fits on the training rows, or reuses what a checkpoint kept (to_json of
/// sources/table/table_fit.h). Errors (Exit::data) name file, row and column: a cell that is not a
/// number, a missing target, a missing number where no training row lacks one, a class of the
/// target that is only in the valid rows, unless `classes` leaves such rows out. Unknown columns
/// are Errors (Exit::recipe) with the nearest name.
Table read_table(const TableSource& source, const TableOptions& options,
                 const std::string& fitted = {}, const KnownClasses& classes = {});

/// All rows of a file, as valid rows without targets, for a trained model. Those with a cell that
/// cannot be used have an error, and any codes and numbers.
Table read_unlabeled_table(const TableSource& source, const TableOptions& options,
                           const std::string& fitted);

}  // namespace ddptrain
