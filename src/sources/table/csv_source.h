// A CSV file as a table.
#pragma once

#include "sources/csv/csv_columns.h"
#include "sources/table/table_source.h"

namespace ddptrain {

class CsvSource final : public TableSource {
 public:
  /// Errors are those of Csv (sources/csv/csv.h).
  explicit CsvSource(MappedFile file, const CsvFormat& format = {})
      : csv_(std::move(file), format) {}
  explicit CsvSource(const std::string& path, const CsvFormat& format = {},
                     const FileSystem& files = local_files())
      : CsvSource(files.map(path), format) {}
  const std::string& path() const override { return csv_.path(); }
  const CsvFormat& format() const { return csv_.format(); }
  const std::vector<std::string>& header() const override { return csv_.header(); }
  std::size_t rows() const override { return csv_.rows(); }
  std::string cell(std::size_t row, std::size_t column) const override {
    return csv_.at(row, column);
  }
  std::vector<ColumnCells> read_columns(const std::vector<std::size_t>& columns,
                                        const std::vector<ColumnKind>& kinds,
                                        const std::vector<std::string>& missing,
                                        RowErrors* errors = nullptr) const override {
    return ddptrain::read_columns(csv_, columns, kinds, missing, errors);
  }
  void add_places(RowErrors& errors) const override { csv_.add_places(errors); }

 private:
  Csv csv_;
};

}  // namespace ddptrain
