#include "jobs/draft/csv_sniff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "config/encode.h"
#include "jobs/draft/csv_layout.h"
#include "jobs/draft/draft.h"
#include "sources/csv/csv_columns.h"

namespace ddptrain {
namespace {

constexpr std::size_t kSampledCells = 400'000;

struct NumberStyle {
  CsvDecimal decimal = CsvDecimal::point;
  std::optional<CsvThousands> thousands;
};

/// In the order in which they are preferred.
constexpr std::array<NumberStyle, 8> kStyles{{{CsvDecimal::point, {}},
                                              {CsvDecimal::comma, {}},
                                              {CsvDecimal::comma, CsvThousands::point},
                                              {CsvDecimal::point, CsvThousands::comma},
                                              {CsvDecimal::comma, CsvThousands::blank},
                                              {CsvDecimal::point, CsvThousands::blank},
                                              {CsvDecimal::point, CsvThousands::apostrophe},
                                              {CsvDecimal::comma, CsvThousands::apostrophe}}};

constexpr std::array<std::string_view, 60> kUnits{
    "€",   "$",   "£",    "¥",   "₹",   "zł",  "Kč",  "kr",  "Fr.", "EUR", "USD",  "GBP",
    "CHF", "PLN", "SEK",  "NOK", "DKK", "CZK", "JPY", "INR", "CAD", "AUD", "US$",  "%",
    "‰",   "m²",  "m2",   "qm",  "km²", "ha",  "km",  "cm",  "mm",  "m",   "mi",   "ft",
    "in",  "sqm", "sqft", "ft²", "kg",  "mg",  "g",   "t",   "lb",  "lbs", "oz",   "l",
    "ml",  "h",   "min",  "s",   "ms",  "°C",  "°F",  "°",   "kW",  "kWh", "km/h", "mph"};

/// Words that people write where a number is missing.
constexpr std::array<std::string_view, 32> kMissing{
    "-",       "--",      "---",     "?",      "??",      ".",       "..",      "n.a.",
    "n.a",     "N.A.",    "na",      "Na",     "k.A.",    "k. A.",   "#NV",     "#N/D",
    "#REF!",   "#VALUE!", "#DIV/0!", "#WERT!", "#BEZUG!", "unknown", "Unknown", "UNKNOWN",
    "missing", "Missing", "\\N",     "(null)", "–",       "—",       "*",       "none"};

bool is_one_of(std::string_view word, const auto& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}
bool is_known_missing(std::string_view cell) { return is_one_of(cell, pandas_missing()); }

/// The unit that a cell begins or ends with; empty where it has none.
std::string_view unit_of(std::string_view cell) {
  cell = trim(cell);
  std::string_view longest;
  for (const auto unit : kUnits)
    if (unit.size() > longest.size() && cell.size() > unit.size() &&
        (cell.starts_with(unit) || cell.ends_with(unit) ||
         (cell.starts_with('-') && cell.substr(1).starts_with(unit))))
      longest = unit;
  return longest;
}

/// What a column would be in a style.
struct StyledColumn {
  bool numbers = false;
  std::string unit;
  std::set<std::string> missing;
  std::vector<std::size_t> strays;  // rows of cells that are neither, which are few
};

/// Cells that are no numbers, "ca. 90" or "on request", are strays where at most one in fifty is
/// one: people type such a cell, and a column of names is another thing.
bool are_strays(std::size_t strays, std::size_t numbers) { return 50 * strays <= numbers; }

bool is_numeric(std::string_view cell, const CsvFormat& format) {
  return cell_number(cell, format).is != CellNumber::other;
}

/// Makes the unit of a cell that of its column, which has none yet, if the cell is a number then.
bool adopt_unit(std::string_view cell, CsvFormat& format, StyledColumn& column) {
  const auto unit = unit_of(cell);
  if (unit.empty() || !column.unit.empty()) return false;
  format.units = {std::string(unit)};
  if (is_numeric(cell, format)) {
    column.unit = unit;
    return true;
  }
  format.units.clear();
  return false;
}

/// Numbers in every cell of these rows but missing ones and strays, all with one unit or none.
StyledColumn styled(const Csv& csv, std::size_t column, std::size_t step, CsvFormat format) {
  StyledColumn result;
  std::size_t numbers = 0;
  const auto most = csv.rows() / step / 50;
  for (std::size_t row = 1; row < csv.rows(); row += step) {
    const auto cell = csv.cell(row, column);
    if (is_known_missing(cell)) continue;
    const bool number = is_numeric(cell, format);
    if (!number && is_one_of(trim(cell), kMissing)) {
      result.missing.emplace(cell);
    } else if (number || adopt_unit(cell, format, result)) {
      ++numbers;
    } else {
      result.strays.push_back(row);
      if (result.strays.size() > most) return {};
    }
  }
  result.numbers = numbers > 0 && are_strays(result.strays.size(), numbers);
  return result.numbers ? result : StyledColumn{};
}

/// Rows between those that are looked at where not all are.
std::size_t sampling_step(const Csv& csv) {
  return std::max<std::size_t>(1, csv.rows() * csv.header().size() / kSampledCells);
}

CsvFormat with_style(CsvFormat format, const NumberStyle& style) {
  format.decimal = style.decimal;
  format.thousands = style.thousands;
  return format;
}

/// "1.234" or "12.345.678": groups of three digits, the first of which is no 0.
bool is_grouped(std::string_view cell, char mark) {
  const auto first = cell.find(mark);
  if (first == 0 || first > 3 || cell[0] == '0') return false;
  for (std::size_t at = first; at < cell.size(); at += 4)
    if (cell[at] != mark || cell.size() < at + 4 ||
        !parse_integer(cell.substr(at + 1, 3)).has_value())
      return false;
  return true;
}

/// Whether this sign, where it stands in a number at all, stands as between thousands.
bool only_groups(const Csv& csv, std::size_t step, const CsvFormat& format, char mark) {
  std::size_t grouped = 0, round = 0;
  for (std::size_t column = 0; column < csv.header().size(); ++column) {
    if (!styled(csv, column, step, format).numbers) continue;
    for (std::size_t row = 1; row < csv.rows(); row += step) {
      const auto cell = trim(csv.cell(row, column));
      if (cell.find(mark) == std::string_view::npos) continue;
      if (!is_grouped(cell.substr(cell.starts_with('-')), mark)) return false;
      ++grouped;
      round += cell.ends_with('0');
    }
  }
  return grouped > 0 && (mark == ',' || 2 * round > grouped);
}

/// The style in which most columns are numbers.
NumberStyle style_of(const Csv& csv, std::size_t step, const CsvFormat& format) {
  NumberStyle best;
  std::size_t most = 0;
  for (const auto& style : kStyles) {
    std::size_t numbers = 0;
    for (std::size_t column = 0; column < csv.header().size(); ++column)
      numbers += styled(csv, column, step, with_style(format, style)).numbers;
    if (numbers > most) best = style, most = numbers;
  }
  if (best.thousands) return best;
  // "1,234" alone is a thousand and "350.000" next to semicolons is no fraction.
  const bool semicolons = format.separator == CsvSeparator::semicolon;
  if (best.decimal == CsvDecimal::comma && !semicolons &&
      only_groups(csv, step, with_style(format, best), ','))
    return {CsvDecimal::point, CsvThousands::comma};
  if (best.decimal == CsvDecimal::point && semicolons &&
      only_groups(csv, step, with_style(format, best), '.'))
    return {CsvDecimal::comma, CsvThousands::point};
  return best;
}

/// Integers that count up, as a header of years or of pandas may.
bool counts_up(const std::vector<double>& numbers) {
  if (numbers.size() < 3) return false;
  for (std::size_t i = 1; i < numbers.size(); ++i)
    if (numbers[i] != numbers[i - 1] + 1 || numbers[i] != std::floor(numbers[i])) return false;
  return true;
}

/// A first row is a header unless it is like the others: numbers over numbers, or words that come
/// again below.
bool has_header(const Csv& csv, const std::vector<StyledColumn>& columns, const CsvFormat& format) {
  std::vector<double> numbers;
  std::size_t numeric = 0, again = 0;
  for (std::size_t column = 0; column < columns.size(); ++column) {
    const auto head = csv.cell(0, column);
    if (!columns[column].numbers) {
      bool met = false;
      for (std::size_t row = 1; row < csv.rows() && !met; ++row)
        met = !head.empty() && csv.cell(row, column) == head;
      again += met;
      continue;
    }
    ++numeric;
    const auto number = cell_number(head, format);
    if (number.is == CellNumber::number)
      numbers.push_back(number.value);
    else if (!is_known_missing(head) || head.empty())
      return true;
  }
  if (numeric == 0) return csv.rows() < 2 || 2 * again <= columns.size();
  return numbers.empty() || counts_up(numbers);
}

bool has_duplicates(const Csv& csv) {
  std::set<std::string_view> names;
  for (std::size_t column = 0; column < csv.header().size(); ++column)
    if (!names.insert(csv.cell(0, column)).second) return true;
  return false;
}

Node options_of(const CsvFormat& format) {
  auto written = format;
  CsvFormat usual;
  const auto all = encode(written), defaults = encode(usual);
  auto node = Node::map();
  for (const auto& option : all.members)
    if (to_flow(option.value) != to_flow(*defaults.find(option.key)))
      node.set(option.key, option.value);
  return node;
}

/// Its first row is read like the others; problems of the file are reported for its header.
std::unique_ptr<Csv> open_raw(const std::string& path, CsvFormat format) {
  try {
    return std::make_unique<Csv>(path, format);
  } catch (const Error&) {
    format.header = true;
    format.duplicate_names = DuplicateNames::number;
    Csv(path, format);
    throw;
  }
}

std::string in_words(const Node& value) {
  if (value.is_scalar()) return fmt::format("'{}'", value.text);
  std::vector<std::string> words;
  for (const auto& item : value.items) words.push_back(fmt::format("'{}'", item.text));
  return join(words, " ");
}

/// Columns that are no numbers may still have a '?' where a cell is missing.
void add_question_marks(const Csv& csv, const std::vector<StyledColumn>& columns,
                        std::set<std::string>& missing) {
  for (std::size_t column = 0; column < columns.size(); ++column)
    for (std::size_t row = 1; row < csv.rows() && !columns[column].numbers; ++row)
      if (trim(csv.cell(row, column)) == "?") missing.emplace(csv.cell(row, column));
}

std::set<std::string> missing_of(const std::vector<StyledColumn>& columns) {
  std::set<std::string> missing;
  for (const auto& column : columns) missing.insert(column.missing.begin(), column.missing.end());
  return missing;
}

std::vector<std::string> units_of(const std::vector<StyledColumn>& columns) {
  std::set<std::string> units;
  for (const auto& column : columns)
    if (!column.unit.empty()) units.insert(column.unit);
  return {units.begin(), units.end()};
}

std::vector<StyledColumn> styled_columns(const Csv& csv, const CsvFormat& format) {
  std::vector<StyledColumn> columns;
  for (std::size_t column = 0; column < csv.header().size(); ++column)
    columns.push_back(styled(csv, column, 1, format));
  return columns;
}

}  // namespace

SniffedCsv sniff_csv(const std::string& path) {
  SniffedCsv found{csv_layout(path), {}, {}};
  auto& format = found.format;
  auto raw = format;
  raw.header = false;
  const auto opened = open_raw(path, raw);
  const auto& csv = *opened;
  const auto step = sampling_step(csv);
  const auto style = style_of(csv, step, format);
  format = with_style(format, style);
  const auto columns = styled_columns(csv, format);
  auto missing = missing_of(columns);
  format.units = units_of(columns);
  format.header = has_header(csv, columns, format);
  if (format.header && has_duplicates(csv)) format.duplicate_names = DuplicateNames::number;
  add_question_marks(csv, columns, missing);
  for (std::size_t column = 0; column < columns.size(); ++column)
    for (const auto row : columns[column].strays) {
      const std::string cell(csv.cell(row, column));
      const auto name =
          format.header ? std::string(csv.cell(0, column)) : fmt::format("column_{}", column + 1);
      missing.insert(cell);
      found.strays.push_back(
          fmt::format("column '{}': '{}' in row {} is no number, and counts as missing", name, cell,
                      format.header ? row : row + 1));
    }
  found.missing.assign(missing.begin(), missing.end());
  return found;
}

std::string csv_in_words(const CsvFormat& format) {
  std::vector<std::string> words;
  const auto node = options_of(format);
  for (const auto& option : node.members)
    if (option.key == "header")
      words.emplace_back("no header: columns are column_1, column_2, ...");
    else if (option.key == "duplicate_names")
      words.emplace_back("columns of one name are numbered");
    else if (option.key == "skip_lines")
      words.push_back(plural(format.skip_lines, "line") + " before the header");
    else
      words.push_back(option.key + " " + in_words(option.value));
  return join(words, ", ");
}

std::string csv_lines(const CsvFormat& format) {
  const auto node = options_of(format);
  return node.members.empty() ? "" : fmt::format("  csv: {}\n", to_flow(node));
}

std::string missing_lines(const std::vector<std::string>& more) {
  return more.empty() ? "" : fmt::format("  missing: {}\n", yaml_list(missing_spellings(more)));
}

std::vector<std::string> missing_spellings(const std::vector<std::string>& more) {
  if (more.empty()) return pandas_missing();
  std::vector<std::string> all{"",    "NA",   "N/A",  "n/a",  "NaN",
                               "nan", "NULL", "null", "None", "#N/A"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace ddptrain
