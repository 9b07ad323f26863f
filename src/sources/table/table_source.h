// A file that holds a table, whatever its format: named columns of numbers or names.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/columns.h"
#include "sources/files/file_system.h"

namespace ddptrain {

class TableSource {
 public:
  virtual ~TableSource() = default;
  virtual const std::string& path() const = 0;
  /// The names of the columns, each once.
  virtual const std::vector<std::string>& header() const = 0;
  /// At least one; rows count from 0.
  virtual std::size_t rows() const = 0;
  /// Whether a column holds numbers or text, and not lists or the like.
  virtual bool has_cells(std::size_t /*column*/) const { return true; }
  /// Whether a missing cell is a null of the format, which no word stands for.
  virtual bool has_nulls() const { return false; }
  /// A cell as text.
  virtual std::string cell(std::size_t row, std::size_t column) const = 0;
  /// Columns, one kind for each; their names live as long as this object. A cell is missing where
  /// it has no value, or as text is one of `missing`. Throws an Error (Exit::data) that names file,
  /// row and column: a cell of numbers that is none, or is larger than a float can hold; with
  /// `errors` it is noted there and missing instead.
  virtual std::vector<ColumnCells> read_columns(const std::vector<std::size_t>& columns,
                                                const std::vector<ColumnKind>& kinds,
                                                const std::vector<std::string>& missing,
                                                RowErrors* errors = nullptr) const = 0;
  /// Puts file and row before each: "labels.csv:12: ".
  virtual void add_places(RowErrors& errors) const = 0;

  /// Throws an Error (Exit::data) about a cell: "labels.csv:12: column 'label': empty".
  [[noreturn]] void fail(std::size_t row, std::size_t column, const std::string& what) const;
  /// The same, noted in `errors` without file and row; thrown where that is null.
  void report(std::size_t row, std::size_t column, const std::string& what,
              RowErrors* errors) const;
  std::optional<std::size_t> column(std::string_view name) const;
};

/// Opens a file of one format. Throws an Error (Exit::data) that names it and what is wrong.
using OpenTable = std::function<std::unique_ptr<TableSource>(const std::string& path)>;

struct CsvFormat;

/// Opens a file of any format that there is: Parquet where it begins as one does, otherwise CSV of
/// that format. Errors are those of the source.
std::unique_ptr<TableSource> open_table(const std::string& path, const CsvFormat& csv,
                                        const FileSystem& files = local_files());

}  // namespace ddptrain
