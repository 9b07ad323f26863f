#include "jobs/draft/table_profile.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "data/csv/csv_columns.h"
#include "data/image/image_scan.h"
#include "data/table/table_source.h"

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

}  // namespace

void require_header(const TableSource& csv) {
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

std::string ColumnProfile::value(std::size_t row) const {
  return numbers() ? format_number(cells.numbers[row])
                   : std::string(cells.names[static_cast<std::size_t>(cells.codes[row])]);
}

std::vector<std::string> TableProfile::names() const {
  std::vector<std::string> all;
  for (const auto& column : columns) all.push_back(column.name);
  return all;
}

const ColumnProfile& TableProfile::column(const std::string& name) const {
  return *std::find_if(columns.begin(), columns.end(),
                       [&](const ColumnProfile& column) { return column.name == name; });
}

TableProfile profile_of(const TableSource& source, const std::vector<std::string>& missing) {
  TableProfile profile{source.path(), static_cast<std::int64_t>(source.rows()), {}, {}};
  std::vector<std::size_t> readable;
  for (std::size_t i = 0; i < source.header().size(); ++i)
    if (source.has_cells(i))
      readable.push_back(i);
    else
      profile.unreadable.push_back(source.header()[i]);
  auto cells =
      source.read_columns(readable, std::vector(readable.size(), ColumnKind::automatic), missing);
  for (std::size_t i = 0; i < readable.size(); ++i) {
    ColumnProfile column{source.header()[readable[i]], std::move(cells[i])};
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

bool is_identifier(const TableProfile& table, const ColumnProfile& column) {
  const auto name = lower(column.name);
  const bool unique = column.distinct + column.missing == table.rows;
  const bool named = name.empty() || name == "id" || name == "index" || name == "key" ||
                     name.ends_with("_id") || name.ends_with(" id") ||
                     column.name.ends_with("Id") || name.ends_with("uuid") ||
                     name.starts_with("unnamed");
  if (column.numbers()) return named && unique;
  return unique || (column.distinct > 50 && 10 * column.distinct > 9 * table.rows);
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

std::string root_of_paths(const TableProfile& profile, const ColumnProfile& paths) {
  const auto home = fs::absolute(profile.path).parent_path();
  const fs::path one = paths.cells.names.front();
  std::error_code unknown;
  if (fs::exists(home / one, unknown)) return "";
  for (const auto& entry : fs::directory_iterator(home, unknown))
    if (entry.is_directory(unknown) && fs::exists(entry.path() / one, unknown))
      return entry.path().filename().string();
  throw Error(Exit::data, profile.path + ": '" + one.string() + "' (column '" + paths.name +
                              "') is neither beside the file nor in a folder beside it");
}

std::string output_range(const ColumnProfile& target) {
  const auto [low, high] =
      std::minmax_element(target.cells.numbers.begin(), target.cells.numbers.end());
  const double margin = 0.1 * (*high - *low);
  const auto unit = std::pow(10, std::floor(std::log10(*high - *low)) - 1);
  return ", y_range: [" + format_number(std::floor((*low - margin) / unit) * unit) + ", " +
         format_number(std::ceil((*high + margin) / unit) * unit) + "]";
}

}  // namespace ddptrain
