// Where the cells of a CSV text (RFC 4180) stand: one pass over its bytes, 64 at a time, that
// copies nothing but the few cells with doubled quotes. The beginning of a block, with its marks:
//
//   byte     0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15 16 17 18 19 20 21 22
//   text     i  d  ,  c  i  t  y  \n 7  ,  O  s  l  o  \n 8  ,  "  a  ,  b  "  \n
//   ends     .  .  1  .  .  .  .  1  .  1  .  .  .  .  1  .  1  .  .  1  .  .  1
//   lines    .  .  .  .  .  .  .  1  .  .  .  .  .  .  1  .  .  .  .  .  .  .  1
//   special  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  .  1  .  .  .  1  .
//
//   ends_     -1 2 7 9 14 16 22     cell i is what lies between ends_[i] and ends_[i + 1]
//   columns_  2                     column c of record r is cell 2 * r + c
//
// Marks are words of 64 bits, from comparisons of 16 bytes at once. Each 1 of `ends` is the end of
// a cell if `special` (quotes, carriage returns, NUL, bytes that are not ASCII) has none: as long
// as that holds, nothing looks at single bytes. In a block with special marks the marked bytes are
// parsed one by one: the quote at 17 is closed at 21, so the separator at 19 ends no cell; a quoted
// cell may span any number of blocks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ddptrain {

/// What a reader must know before it can cut a text.
struct CsvDialect {
  char separator = ',';
  std::size_t skipped = 0;  // lines of the file before the text
  bool header = true;       // the first record names the columns
};

/// A place in a CSV text for people: line from 1, and the field's number in its record from 1.
struct CsvPlace {
  std::size_t line = 1;
  std::size_t field = 1;
};
CsvPlace place_of(std::string_view text, std::size_t at, const CsvDialect& dialect);
std::string hexadecimal(char byte);  // "0xe4"

class CsvCells;

class CsvIndex {
 public:
  /// `text` must outlive the index. Throws an Error (Exit::data), "PATH:LINE: column 'NAME': ...":
  /// text that is not UTF-8 or holds a NUL byte; a quote that does not close (where it opened), a
  /// quote or a carriage return within a bare field, a record with more or fewer fields than the
  /// first, one of more than a gibibyte.
  CsvIndex(std::string_view text, const std::string& path, const CsvDialect& dialect = {});

  std::size_t records() const { return columns_ ? (ends_.size() - 1) / columns_ : 0; }
  std::size_t columns() const { return columns_; }
  std::size_t begin(std::size_t record) const { return start(record * columns_); }

  /// Without its quotes, doubled ones single.
  std::string_view cell(std::size_t record, std::size_t column) const;

 private:
  friend class CsvIndexer;
  friend class CsvCells;
  std::size_t start(std::size_t number) const {
    return wraps_.empty() ? std::uint32_t{ends_[number] + 1} : start_beyond_4gib(number);
  }
  std::size_t start_beyond_4gib(std::size_t number) const;
  std::string_view quoted_cell(std::string_view cell) const;

  std::string_view text_;
  std::size_t columns_ = 0;
  bool quotes_ = false;   // there are some
  bool returns_ = false;  // there are carriage returns
  // Of each cell, record after record, the place of the separator or line feed that ends it, modulo
  // 2^32; before them the one before the text.
  std::vector<std::uint32_t> ends_;
  std::vector<std::size_t> wraps_;  // how many ends lie before each multiple of 2^32
  std::unordered_map<std::size_t, std::string> unquoted_;  // by place: cells with doubled quotes
};

/// The cells of one column from a record on, for a loop that keeps this in registers.
class CsvCells {
 public:
  CsvCells(const CsvIndex& index, std::size_t first, std::size_t column)
      : index_(index),
        text_(index.text_.data()),
        ends_(index.ends_.data()),
        step_(index.columns_),
        first_(first * step_ + column),
        is_last_(column + 1 == step_),
        wrapped_(!index.wraps_.empty()) {}

  /// Whether all cells are as they stand: no quotes, no carriage returns behind them, the text is
  /// below 4 GiB.
  bool bare() const { return !index_.quotes_ && !(index_.returns_ && is_last_) && !wrapped_; }
  /// Of a column whose cells are bare().
  std::string_view bare(std::size_t record) const {
    const auto number = first_ + record * step_;
    const std::uint32_t before = ends_[number], size = ends_[number + 1] - before - 1;
    return {text_ + std::uint32_t{before + 1}, size};
  }

  std::string_view operator[](std::size_t record) const {
    const auto number = first_ + record * step_;
    const std::uint32_t before = ends_[number], size = ends_[number + 1] - before - 1;
    const std::size_t start =
        wrapped_ ? index_.start_beyond_4gib(number) : std::uint32_t{before + 1};
    std::string_view cell(text_ + start, size);
    if (is_last_ && cell.ends_with('\r')) cell.remove_suffix(1);
    return cell.starts_with('"') ? index_.quoted_cell(cell) : cell;
  }

 private:
  const CsvIndex& index_;
  const char* text_;
  const std::uint32_t* ends_;
  std::size_t step_, first_;
  bool is_last_, wrapped_;
};

inline std::string_view CsvIndex::cell(std::size_t record, std::size_t column) const {
  return CsvCells(*this, record, column)[0];
}

/// Throws an Error (Exit::data) about a place of a CSV text: "PATH:LINE: column 'NAME': WHAT".
[[noreturn]] void fail_in_csv(std::string_view text, const std::string& path, const CsvPlace& place,
                              const std::string& what, const CsvDialect& dialect);

}  // namespace ddptrain
