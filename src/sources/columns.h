// Columns of a table as numbers, or as names with a code for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

/// automatic: numbers where every cell that is not missing is one, otherwise names.
enum class ColumnKind { automatic, numbers, names };

/// A column, a value for each row. Names are views into the file's memory, each once, in order of
/// their first row.
struct ColumnCells {
  ColumnKind kind = ColumnKind::numbers;
  std::vector<double> numbers;      // of numbers; NaN: missing
  std::vector<std::int32_t> codes;  // of names, from 0; -1: missing
  std::vector<std::string_view> names;
};

/// What is wrong in rows of a file: of each row the first that was found.
using RowErrors = std::map<std::size_t, std::string>;

}  // namespace ddptrain
