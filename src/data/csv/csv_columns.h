// Columns of a CSV file as numbers, or as names with a code for each. Torch-free.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/csv/csv.h"

namespace ddptrain {

/// automatic: numbers where every cell that is not missing is written as one, otherwise names.
enum class ColumnKind { automatic, numbers, names };

/// The spellings that pandas.read_csv takes for a missing value.
const std::vector<std::string>& pandas_missing();

/// A column, a value for each row. Names are views into the file, each once, in order of their
/// first row.
struct CsvColumn {
  ColumnKind kind = ColumnKind::numbers;
  std::vector<double> numbers;      // of numbers; NaN: missing
  std::vector<std::int32_t> codes;  // of names, from 0; -1: missing
  std::vector<std::string_view> names;
};

/// The whole cell as a number, blanks around it allowed: decimal digits, point, exponent.
struct CellNumber {
  enum Is { number, other, too_large };
  Is is = other;
  double value = 0;
};
/// too_large: beyond a float, or infinite. "nan" is no number.
CellNumber cell_number(std::string_view cell);

/// Reads columns, one kind for each, in one pass over the rows. A cell is missing where it equals
/// one of `missing` to the letter. Throws an Error (Exit::data) that names file, line and column: a
/// cell of numbers that is none or too large.
std::vector<CsvColumn> read_columns(const Csv& csv, const std::vector<std::size_t>& columns,
                                    const std::vector<ColumnKind>& kinds,
                                    const std::vector<std::string>& missing);

}  // namespace ddptrain
