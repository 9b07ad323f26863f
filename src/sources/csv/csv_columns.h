// Columns of a CSV file as numbers, or as names with a code for each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sources/columns.h"
#include "sources/csv/csv.h"

namespace ddptrain {

/// The spellings that pandas.read_csv takes for a missing value.
const std::vector<std::string>& pandas_missing();

/// The whole cell as a number, blanks around it allowed: decimal digits, point, exponent.
struct CellNumber {
  enum Is { number, other, too_large };
  Is is = other;
  double value = 0;
};
/// too_large: beyond a float, or infinite. "nan" is no number.
CellNumber cell_number(std::string_view cell);
/// The same, written as a file's format has it.
CellNumber cell_number(std::string_view cell, const CsvFormat& format);

/// Reads columns, one kind for each, in one pass over the rows. A cell is missing where it equals
/// one of `missing` to the letter. Throws an Error (Exit::data) that names file, line and column: a
/// cell of numbers that is none or too large; with `errors` it is noted there and missing instead.
std::vector<ColumnCells> read_columns(const Csv& csv, const std::vector<std::size_t>& columns,
                                      const std::vector<ColumnKind>& kinds,
                                      const std::vector<std::string>& missing,
                                      RowErrors* errors = nullptr);

}  // namespace ddptrain
