#include "sources/csv/csv_columns.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/clones.h"
#include "base/output/long_work.h"
#include "base/text.h"
#include "sources/dictionary.h"

namespace ddptrain {
namespace {

/// Cells of one block of rows and the text they stand in stay in the second-level cache.
constexpr std::size_t block_rows = 1024;

constexpr std::uint64_t every(std::uint64_t byte) { return 0x0101010101010101U * byte; }

/// Eight digits, the first in the lowest byte, at once; -1 where one is no digit (Lemire 2018,
/// "Quickly parsing eight digits").
[[gnu::always_inline]] inline std::int32_t eight_digits(std::uint64_t text) {
  const auto carried = (text + every(0x06)) & every(0xf0);
  const auto others = ((text & every(0xf0)) | carried >> 4) ^ every(0x33);  // 0: all are digits
  text = (text & every(0x0f)) * (10 * 256 + 1) >> 8;
  text = (text & 0x00ff00ff00ff00ffU) * (100 * 65536 + 1) >> 16;
  text = (text & 0x0000ffff0000ffffU) * (10000 * 4294967296U + 1) >> 32;
  return static_cast<std::int32_t>(text | (0 - std::uint64_t{others != 0}));
}

/// A value for each row of a block.
template <class T>
using OfBlock = std::array<T, block_rows>;

/// One to seven digits with zeros before them, where the bytes before the cell may be read; no
/// digits for a cell of any other size.
[[gnu::always_inline]] inline std::uint64_t short_integer(std::string_view cell) {
  const bool is_short = cell.size() - 1 < 7;
  const auto size = is_short ? cell.size() : 1;
  std::uint64_t text = 0;
  std::memcpy(&text, cell.data() + cell.size() - sizeof text, sizeof text);
  const auto others = 8 * (sizeof text - size);
  return is_short ? (text >> others << others) | every('0') >> 8 * size : 0;
}

/// Texts of eight digits as numbers; -1 where one is none.
DDPTRAIN_CLONES void read_digits(const OfBlock<std::uint64_t>& texts, OfBlock<double>& numbers) {
  for (std::size_t i = 0; i < block_rows; ++i) numbers[i] = eight_digits(texts[i]);
}

/// Up to 15 digits, which a double holds exactly; -1 for anything else.
double small_integer(std::string_view cell) {
  if (cell.empty() || cell.size() > 15) return -1;
  std::int64_t value = 0;
  for (const char c : cell) {
    if (c < '0' || c > '9') return -1;
    value = 10 * value + (c - '0');
  }
  return static_cast<double>(value);
}

/// What from_chars calls out of range: too large, or so small that little or nothing is left of it.
CellNumber beyond_double(std::string_view cell) {
  const double value = std::strtod(std::string(cell).c_str(), nullptr);
  return {std::isinf(value) ? CellNumber::too_large : CellNumber::number, value};
}

class ColumnReader {
 public:
  ColumnReader(const Csv& csv, std::size_t column, ColumnKind kind,
               const std::vector<std::string>& missing, RowErrors* errors)
      : csv_(csv),
        column_(column),
        asked_(kind),
        missing_(missing),
        errors_(errors),
        plain_(csv.format().plain_numbers()) {
    const auto is_number = [&](const auto& text) {
      return cell_number(text, csv.format()).is == CellNumber::number;
    };
    numeric_missing_ = std::any_of(missing.begin(), missing.end(), is_number);
    made_.kind = kind == ColumnKind::names ? ColumnKind::names : ColumnKind::numbers;
    if (made_.kind == ColumnKind::names)
      begin_names();
    else
      made_.numbers.reserve(csv.rows());
  }

  void read(std::size_t first, std::size_t last) {
    if (made_.kind == ColumnKind::numbers && read_numbers(first, last)) return;
    if (made_.kind == ColumnKind::numbers) {
      begin_names();
      first = 0;
    }
    read_names(first, last);
  }

  ColumnCells result() {
    if (asked_ == ColumnKind::automatic && made_.kind == ColumnKind::numbers) check_range();
    return std::move(made_);
  }

 private:
  bool is_missing(std::string_view cell) const {
    return std::find(missing_.begin(), missing_.end(), cell) != missing_.end();
  }

  /// Whether rows are bare cells around which eight bytes may be read.
  bool are_amid_text(const CsvCells& cells, std::size_t first, std::size_t last) const {
    return cells.bare() && csv_.may_read_around(cells.bare(first)) &&
           csv_.may_read_around(cells.bare(last - 1));
  }

  /// False where an automatic column turns out to be one of names.
  bool read_numbers(std::size_t first, std::size_t last) {
    made_.numbers.resize(last);
    const auto cells = csv_.cells(column_);
    if (are_amid_text(cells, first, last) && !numeric_missing_)
      return read_short_integers(cells, first, last);
    for (std::size_t row = first; row < last; ++row)
      if (!read_any_number(row, cells[row])) return false;
    return true;
  }

  /// All rows at once; then those that hold something else.
  bool read_short_integers(const CsvCells& cells, std::size_t first, std::size_t last) {
    OfBlock<std::uint64_t> texts{};
    OfBlock<double> numbers;
    for (std::size_t row = first; row < last; ++row)
      texts[row - first] = short_integer(cells.bare(row));
    read_digits(texts, numbers);
    for (std::size_t row = first; row < last; ++row) {
      made_.numbers[row] = numbers[row - first];
      if (numbers[row - first] < 0 && !read_any_number(row, cells.bare(row))) return false;
    }
    return true;
  }

  [[gnu::noinline]] bool read_any_number(std::size_t row, std::string_view cell) {
    auto number = plain_ ? cell_number(cell) : cell_number(cell, csv_.format());
    if ((number.is != CellNumber::number || numeric_missing_) && is_missing(cell))
      number = {CellNumber::number, std::numeric_limits<double>::quiet_NaN()};
    if (number.is == CellNumber::other && asked_ == ColumnKind::automatic) return false;
    if (number.is != CellNumber::number && !postponed(row, number)) {
      report(row, number);
      number.value = std::numeric_limits<double>::quiet_NaN();
    }
    made_.numbers[row] = number.value;
    return true;
  }

  /// A column of names may hold what looks like too large a number.
  bool postponed(std::size_t row, const CellNumber& number) {
    if (asked_ != ColumnKind::automatic || number.is != CellNumber::too_large) return false;
    if (too_large_ == nowhere) too_large_ = row;
    return true;
  }

  void check_range() const {
    if (too_large_ != nowhere) report(too_large_, {CellNumber::too_large, 0});
  }

  void report(std::size_t row, const CellNumber& number) const {
    const auto cell = "'" + csv_.at(row, column_) + "'";
    csv_.report(row, column_,
                number.is == CellNumber::too_large
                    ? cell + " is larger than a float can hold (3.4e38)"
                    : cell + " is not a number" + expected_format() +
                          "; if it stands for a missing one, list it in data.missing",
                errors_);
  }

  /// What the recipe says of numbers, or might: the reason that most of them are none.
  std::string expected_format() const {
    const auto& format = csv_.format();
    if (plain_) return "";
    std::string text = " as data.csv has them: decimal '";
    text += names(format.decimal)[static_cast<std::size_t>(format.decimal)];
    text += "'";
    if (format.thousands) {
      text += ", thousands '";
      text += names(*format.thousands)[static_cast<std::size_t>(*format.thousands)];
      text += "'";
    }
    return format.units.empty() ? text : text + ", units " + one_of(format.units);
  }

  void begin_names() {
    made_ = {ColumnKind::names, {}, {}, {}};
    made_.codes.reserve(csv_.rows());
    for (const auto& spelling : missing_) codes_.find_or_add(spelling, -1);
  }

  void read_names(std::size_t first, std::size_t last) {
    made_.codes.resize(last);
    const auto cells = csv_.cells(column_);
    if (are_amid_text(cells, first, last)) {
      for (std::size_t row = first; row < last; ++row)
        read_name(row, cells.bare(row), NameEnds::amid_text(cells.bare(row)));
      return;
    }
    for (std::size_t row = first; row < last; ++row) {
      const auto cell = cells[row];
      read_name(row, cell,
                csv_.may_read_around(cell) ? NameEnds::amid_text(cell) : NameEnds::of(cell));
    }
  }

  void read_name(std::size_t row, std::string_view cell, const NameEnds& ends) {
    const auto fresh = static_cast<std::int32_t>(made_.names.size());
    made_.codes[row] = codes_.find_or_add(cell, ends, fresh);
    if (made_.codes[row] == fresh) made_.names.push_back(cell);
  }

  static constexpr std::size_t nowhere = ~std::size_t{0};

  const Csv& csv_;
  std::size_t column_;
  ColumnKind asked_;
  const std::vector<std::string>& missing_;
  RowErrors* errors_;  // null: they are thrown
  bool plain_;         // numbers are as C writes them
  bool numeric_missing_ = false;
  std::size_t too_large_ = nowhere;  // the first row that is
  Dictionary codes_;
  ColumnCells made_;
};

}  // namespace

const std::vector<std::string>& pandas_missing() {
  static const std::vector<std::string> spellings{
      "",     "#N/A",   "#N/A N/A", "#NA",  "-1.#IND", "-1.#QNAN", "-NaN",
      "-nan", "1.#IND", "1.#QNAN",  "<NA>", "N/A",     "NA",       "NULL",
      "NaN",  "None",   "n/a",      "nan",  "null"};
  return spellings;
}

CellNumber cell_number(std::string_view cell) {
  if (const double value = small_integer(cell); value >= 0) return {CellNumber::number, value};
  cell = trim(cell);
  if (cell.starts_with('+') && !cell.starts_with("+-")) cell.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error == std::errc::invalid_argument || end != cell.data() + cell.size()) return {};
  if (error == std::errc::result_out_of_range) return beyond_double(cell);
  if (std::isnan(value)) return {};
  if (std::abs(value) > std::numeric_limits<float>::max()) return {CellNumber::too_large, value};
  return {CellNumber::number, value};
}

CellNumber cell_number(std::string_view cell, const CsvFormat& format) {
  if (format.plain_numbers()) return cell_number(cell);
  if (const double value = small_integer(cell); value >= 0) return {CellNumber::number, value};
  const auto plain = plain_number(cell, format);
  return plain ? cell_number(*plain) : CellNumber{};
}

std::vector<ColumnCells> read_columns(const Csv& csv, const std::vector<std::size_t>& columns,
                                      const std::vector<ColumnKind>& kinds,
                                      const std::vector<std::string>& missing, RowErrors* errors) {
  std::vector<ColumnReader> readers;
  readers.reserve(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i)
    readers.emplace_back(csv, columns[i], kinds.at(i), missing, errors);
  LongWork work("reading '" + csv.path() + "'", static_cast<std::int64_t>(csv.rows()));
  for (std::size_t first = 0; first < csv.rows(); first += block_rows) {
    const auto last = std::min(first + block_rows, csv.rows());
    for (auto& reader : readers) reader.read(first, last);
    work.did(static_cast<std::int64_t>(last - first));
  }
  std::vector<ColumnCells> made;
  for (auto& reader : readers) made.push_back(reader.result());
  return made;
}

}  // namespace ddptrain
