// A small strict CSV reader (RFC 4180) for files that people write: a header names the columns, and
// whatever is wrong names row and column. Torch-free.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

/// Rows count from 1 as lines of the file do, the header being row 1.
class Csv {
 public:
  /// Reads a file. Throws an Error (Exit::data) that names it: text that is not UTF-8, a quote that
  /// does not close, a row with too few or too many fields, a column named twice, no rows.
  explicit Csv(const std::string& path);

  const std::vector<std::string>& header() const { return header_; }
  std::size_t rows() const { return rows_.size(); }
  std::optional<std::size_t> column(std::string_view name) const;
  std::size_t required_column(std::string_view name) const;
  const std::string& at(std::size_t row, std::size_t column) const { return rows_[row][column]; }
  /// An error about a value: "labels.csv:12: column 'label': empty".
  [[noreturn]] void fail(std::size_t row, std::size_t column, const std::string& what) const;

 private:
  std::string path_;
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<int> lines_;  // where each row begins
};

}  // namespace ddptrain
