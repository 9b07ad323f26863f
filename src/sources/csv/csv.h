// CSV files (RFC 4180, UTF-8, or as a CsvFormat says) with a header that names the columns. The
// file stays mapped, cells are views into it or into its decoded text, and whatever is wrong names
// file, line and column.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/columns.h"
#include "sources/csv/csv_format.h"
#include "sources/csv/csv_index.h"
#include "sources/files/file_system.h"

namespace ddptrain {

/// Lines end in LF or CR LF; the last one need not. Blanks belong to the cells, as in pandas. Rows
/// count from 0 below the header; messages say the line of the file, the header's being 1.
class Csv {
 public:
  /// Reads a file. Throws an Error (Exit::data) that names it, line and column: text that is not
  /// UTF-8, a NUL byte, a quote that does not close, a row with too few or too many fields, a
  /// column named twice, no rows. Blank lines at the end of a file of several columns are
  /// no rows. A first line "sep=;", which Excel reads, is skipped; an Error
  /// where it names another separator than the format.
  explicit Csv(MappedFile file, const CsvFormat& format = {});
  explicit Csv(const std::string& path, const CsvFormat& format = {},
               const FileSystem& files = local_files())
      : Csv(files.map(path), format) {}
  Csv(const Csv&) = delete;
  Csv& operator=(const Csv&) = delete;

  const std::string& path() const { return path_; }
  const std::vector<std::string>& header() const { return header_; }
  const CsvFormat& format() const { return format_; }
  std::size_t rows() const { return index_.records() - first_; }
  std::optional<std::size_t> column(std::string_view name) const;
  std::size_t required_column(std::string_view name) const;
  /// A cell without its quotes, doubled ones single; the view lives as long as this object.
  std::string_view cell(std::size_t row, std::size_t column) const {
    return index_.cell(row + first_, column);
  }
  CsvCells cells(std::size_t column) const { return {index_, first_, column}; }
  /// Whether a cell stands in the file, not near its start or end: eight bytes before and from its
  /// first byte on may be read.
  bool may_read_around(std::string_view cell) const {
    const auto at = reinterpret_cast<std::uintptr_t>(cell.data()) -
                    reinterpret_cast<std::uintptr_t>(text_.data());
    return text_.size() >= 16 && at - 8 <= text_.size() - 16;
  }
  std::string at(std::size_t row, std::size_t column) const {
    return std::string(cell(row, column));
  }
  /// An error about a value: "labels.csv:12: column 'label': empty".
  [[noreturn]] void fail(std::size_t row, std::size_t column, const std::string& what) const;
  /// The same, noted in `errors` without its line; thrown where that is null.
  void report(std::size_t row, std::size_t column, const std::string& what,
              RowErrors* errors) const;
  /// Puts file and line before each, in one pass over the file.
  void add_places(RowErrors& errors) const;

 private:
  std::string path_;
  CsvFormat format_;
  MappedFile file_;
  std::string decoded_;  // the file's text, where it is not UTF-8
  CsvDialect dialect_;
  std::string_view text_;  // without a byte order mark and the lines that are skipped
  std::size_t first_;      // record of rows: 1 below a header
  CsvIndex index_;
  std::vector<std::string> header_;
};

}  // namespace ddptrain
