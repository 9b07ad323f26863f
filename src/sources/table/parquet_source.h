// A Parquet file as a table.
#pragma once

#include "sources/files/file_system.h"
#include "sources/parquet/plugin.h"
#include "sources/table/table_source.h"

namespace ddptrain {

/// Numbers are numbers, text is names, and a cell is missing where it is null or NaN. Dates, times
/// and booleans are names, written as pandas writes them to CSV.
class ParquetSource final : public TableSource {
 public:
  /// Errors (Exit::data): a file that is no Parquet, damaged, or without rows; two columns of one
  /// name; the plug-in libddptrain_parquet.so cannot be opened.
  explicit ParquetSource(MappedFile file);
  explicit ParquetSource(const std::string& path, const FileSystem& files = local_files())
      : ParquetSource(files.map(path)) {}
  const std::string& path() const override { return path_; }
  const std::vector<std::string>& header() const override { return header_; }
  std::size_t rows() const override { return static_cast<std::size_t>(parquet_->rows()); }
  bool has_cells(std::size_t column) const override;
  bool has_nulls() const override { return true; }
  /// Reads the whole column: for messages.
  std::string cell(std::size_t row, std::size_t column) const override;
  /// Listed cells of `missing` are compared as text: "-1", "2.5". A column of lists, structures or
  /// binary data is an Error (Exit::data).
  std::vector<ColumnCells> read_columns(const std::vector<std::size_t>& columns,
                                        const std::vector<ColumnKind>& kinds,
                                        const std::vector<std::string>& missing,
                                        RowErrors* errors = nullptr) const override;
  /// "adult.parquet: row 12, column 'age': ...".
  void add_places(RowErrors& errors) const override;

 private:
  std::string path_;
  MappedFile file_;
  std::unique_ptr<ParquetFile> parquet_;
  std::vector<std::string> header_;
  /// What the views of names point to.
  mutable std::vector<std::unique_ptr<std::string>> names_;
};

}  // namespace ddptrain
