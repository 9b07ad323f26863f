#include "sources/csv/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "sources/csv/csv_encoding.h"
#include "sources/dictionary.h"

namespace ddptrain {
namespace {

// Each has a name and later its statistics: they cost more than the few bytes that make one.
constexpr std::size_t most_columns = 1'000'000;

/// Takes off a line with its end.
std::string_view take_line(std::string_view& text, CsvDialect& dialect) {
  const auto end = std::min(text.find('\n'), text.size());
  auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  ++dialect.skipped;
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

/// Without blank lines at its end, where a row has several cells.
std::string_view without_blank_end(std::string_view text, char separator) {
  if (text.substr(0, text.find('\n')).find(separator) == std::string_view::npos) return text;
  while (true) {
    auto shorter = text;
    if (shorter.ends_with('\n')) shorter.remove_suffix(1);
    if (shorter.ends_with('\r')) shorter.remove_suffix(1);
    if (shorter.size() == text.size() || !shorter.ends_with('\n')) return text;
    text = shorter;
  }
}

/// The text below the lines that are no part of the table.
std::string_view table_in(std::string_view text, const CsvFormat& format, const std::string& path,
                          CsvDialect& dialect) {
  if (text.starts_with("sep=") && text.find('\n') != std::string_view::npos) {
    const auto line = take_line(text, dialect);
    if (line.size() > 5 || (line.size() == 5 && line[4] != dialect.separator))
      throw Error(Exit::data, "{}:1: '{}', and data.csv.separator is '{}'", path, line,
                  names(format.separator)[static_cast<std::size_t>(format.separator)]);
  }
  for (std::int64_t i = 0; i < format.skip_lines && !text.empty(); ++i) take_line(text, dialect);
  return without_blank_end(text, dialect.separator);
}

/// Names as pandas makes them different: "a", "a.1", "a.2".
void number_duplicates(std::vector<std::string>& header) {
  std::set<std::string> taken(header.begin(), header.end()), met;
  std::map<std::string, std::int64_t> counts;
  for (auto& name : header) {
    if (met.insert(name).second) continue;
    std::string fresh;
    do fresh = fmt::format("{}.{}", name, ++counts[name]);
    while (!taken.insert(fresh).second);
    name = fresh;
  }
}

void check_header(const std::string& path, std::size_t line,
                  const std::vector<std::string>& names) {
  Dictionary numbers;
  for (std::int32_t number = 1; const auto& name : names) {
    const auto before = numbers.find_or_add(name, number);
    if (before != number)
      throw Error(Exit::data,
                  "{}:{}: columns {} and {} are both called '{}'; rename one, or write "
                  "'data.csv.duplicate_names: number'",
                  path, line, before, number, name);
    ++number;
  }
}

}  // namespace

Csv::Csv(MappedFile file, const CsvFormat& format)
    : path_(file.path()),
      format_(format),
      file_(std::move(file)),
      dialect_{format.separator_char(), 0, format.header},
      text_(table_in(csv_text(file_.bytes(), format.encoding, path_, dialect_, decoded_), format,
                     path_, dialect_)),
      first_(format.header ? 1 : 0),
      index_(text_, path_, dialect_) {
  if (index_.records() == 0) throw Error(Exit::data, "{}: no header", path_);
  const auto line = dialect_.skipped + 1;
  if (index_.columns() > most_columns)
    throw Error(Exit::data, "{}:{}: {} columns, at most {} are read", path_, line, index_.columns(),
                most_columns);
  for (std::size_t i = 0; i < index_.columns(); ++i)
    header_.emplace_back(format.header ? std::string(index_.cell(0, i))
                                       : fmt::format("column_{}", i + 1));
  if (format.duplicate_names == DuplicateNames::number) number_duplicates(header_);
  check_header(path_, line, header_);
  if (rows() == 0) throw Error(Exit::data, "{}: no rows below the header", path_);
}

std::optional<std::size_t> Csv::column(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) return {};
  return static_cast<std::size_t>(found - header_.begin());
}

std::size_t Csv::required_column(std::string_view name) const {
  if (const auto found = column(name)) return *found;
  throw Error(Exit::data, "{}:{}: no column '{}'; there are '{}'", path_, dialect_.skipped + 1,
              name, join(header_, "', '"));
}

void Csv::fail(std::size_t row, std::size_t column, const std::string& what) const {
  RowErrors errors;
  report(row, column, what, &errors);
  add_places(errors);
  throw Error(Exit::data, errors.at(row));
}

void Csv::report(std::size_t row, std::size_t column, const std::string& what,
                 RowErrors* errors) const {
  if (!errors) fail(row, column, what);
  errors->emplace(row, "column '" + header_[column] + "': " + what);
}

void Csv::add_places(RowErrors& errors) const {
  auto line = static_cast<std::ptrdiff_t>(dialect_.skipped) + 1;
  auto at = text_.begin();
  for (auto& [row, error] : errors) {
    const auto begin = text_.begin() + static_cast<std::ptrdiff_t>(index_.begin(row + first_));
    line += std::count(at, begin, '\n');
    at = begin;
    error = fmt::format("{}:{}: {}", path_, line, error);
  }
}

}  // namespace ddptrain
