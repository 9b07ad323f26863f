#include "data/csv/csv.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "data/dictionary.h"

namespace ddptrain {
namespace {

// Each has a name and later its statistics: they cost more than the few bytes that make one.
constexpr std::size_t most_columns = 1'000'000;

/// Text without its byte order mark.
std::string_view text_in(std::span<const std::uint8_t> bytes, const std::string& path) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    fail_in_csv(text, path, {}, "UTF-16 text, as its byte order mark says; save it as UTF-8");
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  return text;
}

void check_header(const std::string& path, const std::vector<std::string>& names) {
  Dictionary numbers;
  for (std::int32_t number = 1; const auto& name : names) {
    const auto before = numbers.find_or_add(name, number);
    if (before != number)
      throw Error(Exit::data, path + ":1: columns " + std::to_string(before) + " and " +
                                  std::to_string(number) + " are both called '" + name + "'");
    ++number;
  }
}

}  // namespace

Csv::Csv(const std::string& path)
    : path_(path), file_(path), text_(text_in(file_.bytes(), path)), index_(text_, path) {
  if (index_.records() == 0) throw Error(Exit::data, path + ": no header");
  if (index_.columns() > most_columns)
    throw Error(Exit::data, path + ":1: " + std::to_string(index_.columns()) +
                                " columns, at most " + std::to_string(most_columns) + " are read");
  for (std::size_t i = 0; i < index_.columns(); ++i) header_.emplace_back(index_.cell(0, i));
  check_header(path, header_);
  if (rows() == 0) throw Error(Exit::data, path + ": no rows below the header");
}

std::optional<std::size_t> Csv::column(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) return {};
  return static_cast<std::size_t>(found - header_.begin());
}

std::size_t Csv::required_column(std::string_view name) const {
  if (const auto found = column(name)) return *found;
  throw Error(Exit::data, path_ + ":1: no column '" + std::string(name) + "'; there are '" +
                              join(header_, "', '") + "'");
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
  std::ptrdiff_t line = 1;
  auto at = text_.begin();
  for (auto& [row, error] : errors) {
    const auto begin = text_.begin() + static_cast<std::ptrdiff_t>(index_.begin(row + 1));
    line += std::count(at, begin, '\n');
    at = begin;
    error = path_ + ":" + std::to_string(line) + ": " + error;
  }
}

}  // namespace ddptrain
