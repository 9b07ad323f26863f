#include "jobs/draft/table_profile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "jobs/draft/csv_sniff.h"
#include "sources/image/image_scan.h"
#include "sources/table/csv_source.h"
#include "sources/table/date.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

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

/// Digits of a postal code or the like: some begin with 0, and all are of one length.
bool are_codes(const TableSource& source, std::size_t index, const ColumnCells& cells) {
  bool zero = false;
  std::size_t length = 0;
  for (std::size_t row = 0; row < cells.numbers.size(); ++row) {
    if (std::isnan(cells.numbers[row])) continue;
    const auto cell = source.cell(row, index);
    if (length == 0) length = cell.size();
    if (cell.size() != length || length < 2 ||
        cell.find_first_not_of("0123456789") != std::string::npos)
      return false;
    zero = zero || cell[0] == '0';
  }
  return zero;
}

constexpr std::array<std::string_view, 27> kDateFormats{"",
                                                        "%d.%m.%Y",
                                                        "%d.%m.%y",
                                                        "%d.%m.%Y %H:%M",
                                                        "%d.%m.%Y %H:%M:%S",
                                                        "%d.%m.%Y, %H:%M",
                                                        "%m/%d/%Y",
                                                        "%d/%m/%Y",
                                                        "%m/%d/%y",
                                                        "%d/%m/%y",
                                                        "%m/%d/%Y %H:%M",
                                                        "%d/%m/%Y %H:%M",
                                                        "%m/%d/%Y %H:%M:%S",
                                                        "%d/%m/%Y %H:%M:%S",
                                                        "%m/%d/%Y %I:%M %p",
                                                        "%m/%d/%Y %I:%M:%S %p",
                                                        "%Y/%m/%d",
                                                        "%Y/%m/%d %H:%M:%S",
                                                        "%d-%m-%Y",
                                                        "%m-%d-%Y",
                                                        "%d-%b-%Y",
                                                        "%d-%b-%y",
                                                        "%d %b %Y",
                                                        "%b %d, %Y",
                                                        "%d. %B %Y",
                                                        "%Y.%m.%d",
                                                        "%Y%m%d"};

/// Months come before days where numbers have points and cells commas, as in America.
std::vector<std::string> date_formats(const CsvFormat& csv) {
  std::vector<std::string> formats(kDateFormats.begin(), kDateFormats.end());
  const bool american = csv.separator == CsvSeparator::comma && csv.decimal == CsvDecimal::point;
  if (!american)
    for (std::size_t i = 0; i + 1 < formats.size(); ++i)
      if (formats[i].starts_with("%m") && formats[i + 1].starts_with("%d"))
        std::swap(formats[i], formats[i + 1]);
  return formats;
}

bool are_dates(const ColumnProfile& column, const std::string& format) {
  return std::all_of(column.cells.names.begin(), column.cells.names.end(),
                     [&](const auto name) { return parse_date(name, format).has_value(); });
}

/// Whether hours or minutes differ.
bool times_differ(const ColumnProfile& column, const std::string& format) {
  const auto of_day = [&](std::string_view name) {
    const auto date = parse_date(name, format);
    return 60 * date->hour + date->minute;
  };
  const auto first = of_day(column.cells.names.front());
  return std::any_of(column.cells.names.begin(), column.cells.names.end(),
                     [&](const auto name) { return of_day(name) != first; });
}

void find_dates(ColumnProfile& column, const CsvFormat& csv) {
  if (column.numbers() || column.cells.names.empty()) return;
  for (const auto& format : date_formats(csv)) {
    if (!are_dates(column, format)) continue;
    column.date = format;
    column.time = times_differ(column, format);
    return;
  }
}

/// Whole numbers such as 20240331 in a column that is named as one of dates.
bool may_be_dates(const ColumnProfile& column) {
  const auto name = lower(column.name);
  if (!column.numbers() ||
      (name.find("date") == std::string::npos && name.find("datum") == std::string::npos))
    return false;
  return std::all_of(column.cells.numbers.begin(), column.cells.numbers.end(), [](double value) {
    return std::isnan(value) || (value > 18'000'000 && value < 22'000'000);
  });
}

}  // namespace

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
  TableProfile profile{source.path(), static_cast<std::int64_t>(source.rows()), {}, {}, {}, {}, {}};
  if (const auto* csv = dynamic_cast<const CsvSource*>(&source)) profile.csv = csv->format();
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
    column.coded = column.numbers() && are_codes(source, readable[i], column.cells);
    if (column.coded || may_be_dates(column)) {
      auto named = column;
      named.cells = source.read_columns({readable[i]}, {ColumnKind::names}, missing)[0];
      find_dates(named, profile.csv);
      if (named.coded || named.date) column = std::move(named);
    }
    column.numbers() ? count_numbers(column) : count_names(column);
    if (!column.coded) find_dates(column, profile.csv);
    profile.columns.push_back(std::move(column));
  }
  return profile;
}

TableProfile profile_of_csv(const std::string& path, std::unique_ptr<CsvSource>& keep) {
  const auto sniffed = sniff_csv(path);
  keep = std::make_unique<CsvSource>(path, sniffed.format);
  auto profile = profile_of(*keep, missing_spellings(sniffed.missing));
  profile.missing = sniffed.missing;
  profile.strays = sniffed.strays;
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
  const auto cells = std::ssize(column.cells.codes) - column.missing;
  return !column.numbers() && column.words >= 5 && column.letters >= 25 &&
         4 * column.distinct > cells;
}

bool is_identifier(const TableProfile& table, const ColumnProfile& column) {
  const auto name = lower(column.name);
  const bool unique = column.distinct + column.missing == table.rows;
  constexpr std::array<std::string_view, 13> numbers{"",       "id",     "index",   "key", "nr",
                                                     "nr.",    "no",     "no.",     "#",   "row",
                                                     "number", "nummer", "lfd. nr."};
  const bool named = std::find(numbers.begin(), numbers.end(), name) != numbers.end() ||
                     name.ends_with("_id") || name.ends_with("_nr") || name.ends_with(" id") ||
                     column.name.ends_with("Id") || name.ends_with("uuid") ||
                     name.starts_with("unnamed");
  if (column.date) return false;
  if (column.numbers()) return named && unique;
  return unique || (column.distinct > 50 && 2 * column.distinct > table.rows);
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
  throw Error(Exit::data,
              "{}: '{}' (column '{}') is neither next to the file nor in a folder next to it",
              profile.path, one.string(), paths.name);
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
