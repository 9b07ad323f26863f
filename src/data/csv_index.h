// Where the cells of a CSV text (RFC 4180) stand: one pass over its bytes, 64 at a time, that
// copies nothing but the few cells with doubled quotes. Torch-free.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace ddptrain {

/// A place in a CSV text for people: line from 1, and the field's number in its record from 1.
struct CsvPlace {
  std::size_t line = 1;
  std::size_t field = 1;
};
CsvPlace place_of(std::string_view text, std::size_t at);

class CsvIndex {
 public:
  /// `text` must outlive the index. Throws an Error (Exit::data), "PATH:LINE: column 'NAME': ...":
  /// a quote that does not close (where it opened), a quote or a carriage return within a bare
  /// field, a record with more or fewer fields than the first, one of more than a gibibyte.
  CsvIndex(std::string_view text, const std::string& path);

  std::size_t records() const { return begins_.size(); }
  std::size_t columns() const { return columns_; }
  std::size_t begin(std::size_t record) const { return begins_[record]; }

  /// Without its quotes, doubled ones single.
  std::string_view cell(std::size_t record, std::size_t column) const {
    const auto at = record * (columns_ + 1) + column;
    const auto start = starts_[at], size = (starts_[at + 1] & place) - (start & place) - 1;
    if (start & quoted) return quoted_cell(begins_[record] + (start & place), size);
    return {text_.data() + begins_[record] + start, size};
  }

 private:
  friend class CsvCutter;
  std::string_view quoted_cell(std::size_t begin, std::size_t size) const;
  // A record has a start for each cell, relative to its own, and one past its end.
  static constexpr std::uint32_t quoted = 1U << 31, place = (1U << 30) - 1;

  std::string_view text_;
  std::size_t columns_ = 0;
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint32_t> starts_;
  std::unordered_map<std::uint64_t, std::string> unquoted_;  // cells with doubled quotes
};

/// Throws an Error (Exit::data) about a place of a CSV text: "PATH:LINE: column 'NAME': WHAT".
[[noreturn]] void fail_in_csv(std::string_view text, const std::string& path, const CsvPlace& place,
                              const std::string& what);

}  // namespace ddptrain
