#include "jobs/draft/csv_profile.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "data/image/image_scan.h"

namespace ddptrain {
namespace {

void count_numbers(ColumnProfile& column) {
  std::set<double> distinct;
  for (const double value : column.cells.numbers)
    if (std::isnan(value))
      ++column.missing;
    else
      distinct.insert(value);
  column.distinct = static_cast<std::int64_t>(distinct.size());
}

void count_names(ColumnProfile& column) {
  for (const auto code : column.cells.codes) column.missing += code < 0;
  column.distinct = static_cast<std::int64_t>(column.cells.names.size());
  for (const auto name : column.cells.names) {
    column.letters += static_cast<double>(name.size());
    column.words += 1 + static_cast<double>(std::count(name.begin(), name.end(), ' '));
  }
  const auto names = static_cast<double>(std::max<std::int64_t>(1, column.distinct));
  column.letters /= names;
  column.words /= names;
}

void require_header(const Csv& csv) {
  const auto& header = csv.header();
  if (header.size() == 1 && header[0].find_first_of(";\t") != std::string::npos)
    throw Error(Exit::data, csv.path() +
                                ": columns are separated by ';' or tabs; ddptrain reads "
                                "commas");
  if (std::all_of(header.begin(), header.end(),
                  [](const auto& name) { return parse_number(name).has_value(); }))
    throw Error(Exit::data, csv.path() +
                                ": the first line holds numbers; it must name the "
                                "columns");
}

}  // namespace

std::string ColumnProfile::value(std::size_t row) const {
  return numbers() ? format_number(cells.numbers[row])
                   : std::string(cells.names[static_cast<std::size_t>(cells.codes[row])]);
}

std::vector<std::string> CsvProfile::names() const {
  std::vector<std::string> all;
  for (const auto& column : columns) all.push_back(column.name);
  return all;
}

const ColumnProfile& CsvProfile::column(const std::string& name) const {
  return *std::find_if(columns.begin(), columns.end(),
                       [&](const ColumnProfile& column) { return column.name == name; });
}

CsvProfile profile_of_csv(const Csv& csv) {
  require_header(csv);
  std::vector<std::size_t> all(csv.header().size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  auto cells =
      read_columns(csv, all, std::vector(all.size(), ColumnKind::automatic), pandas_missing());
  CsvProfile profile{csv.path(), static_cast<std::int64_t>(csv.rows()), {}};
  for (std::size_t i = 0; i < all.size(); ++i) {
    ColumnProfile column{csv.header()[i], std::move(cells[i])};
    column.numbers() ? count_numbers(column) : count_names(column);
    profile.columns.push_back(std::move(column));
  }
  return profile;
}

bool holds_images(const ColumnProfile& column) {
  if (column.numbers() || column.distinct == 0) return false;
  const auto known = image_extensions();
  return std::all_of(column.cells.names.begin(), column.cells.names.end(), [&](auto name) {
    const auto extension = lower(fs::path(name).extension().string());
    return std::find(known.begin(), known.end(), extension) != known.end();
  });
}

bool holds_texts(const ColumnProfile& column) {
  return !column.numbers() && column.words >= 5 && column.letters >= 25;
}

bool is_identifier(const CsvProfile& csv, const ColumnProfile& column) {
  const auto name = lower(column.name);
  const bool unique = column.distinct + column.missing == csv.rows;
  const bool named = name.empty() || name == "id" || name == "index" || name == "key" ||
                     name.ends_with("_id") || name.ends_with(" id") ||
                     column.name.ends_with("Id") || name.ends_with("uuid") ||
                     name.starts_with("unnamed");
  if (column.numbers()) return named && unique;
  return unique || (column.distinct > 50 && 10 * column.distinct > 9 * csv.rows);
}

bool says_split(const ColumnProfile& column) {
  const auto name = lower(column.name);
  return (name == "split" || name == "is_valid") && column.distinct == 2;
}

bool holds_classes(const ColumnProfile& column) {
  if (!column.numbers()) return true;
  const auto& values = column.cells.numbers;
  return column.distinct <= 20 && std::all_of(values.begin(), values.end(), [](double value) {
           return std::isnan(value) || value == std::floor(value);
         });
}

}  // namespace ddptrain
