#include "sources/table/date_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.h"
#include "sources/table/date.h"
#include "sources/table/table_fit.h"
#include "sources/table/table_split.h"

namespace ddptrain {
namespace {

/// The dates of a column by the codes of their texts.
struct DateCells {
  std::size_t index = 0;
  std::vector<std::int32_t> codes;
  std::vector<DateTime> dates;
};

/// Names of small numbers, for the views of categories.
std::string_view name_of(std::int64_t number) {
  static const auto names = [] {
    std::vector<std::string> made;
    for (int i = 0; i <= 366; ++i) made.push_back(std::to_string(i));
    return made;
  }();
  return names.at(static_cast<std::size_t>(number));
}

std::string_view category_name(const DatePart& part, std::int64_t value) {
  if (!part.name.starts_with("Is_")) return name_of(value);
  return value != 0 ? "True" : "False";
}

void require_known_directives(const std::string& format) {
  if (const auto unknown = unknown_directive(format); !unknown.empty())
    throw Error(Exit::recipe, Option{"data.dates"},
                "'{}' in '{}' is no directive; there are %Y %y %m %d %b %B %H %I %M %S %p %f %%",
                unknown, format);
}

DateCells read_dates(const TableSource& source, const TableOptions& options,
                     const DateColumn& column, RowErrors* errors) {
  DateCells made;
  made.index = named_column(source, column.column, "dates");
  auto cells =
      source.read_columns({made.index}, {ColumnKind::names}, options.missing_spellings())[0];
  const auto format = column.format.value.value_or("");
  require_known_directives(format);
  std::vector<bool> is_date;
  for (const auto name : cells.names) {
    const auto date = parse_date(name, format);
    is_date.push_back(date.has_value());
    made.dates.push_back(date.value_or(DateTime{}));
  }
  for (std::size_t row = 0; row < cells.codes.size(); ++row) {
    auto& code = cells.codes[row];
    if (code < 0 || is_date[static_cast<std::size_t>(code)]) continue;
    source.report(row, made.index,
                  "'" + std::string(cells.names[static_cast<std::size_t>(code)]) +
                      "' is not a date" +
                      (format.empty() ? " as 2024-03-31 is; data.dates gives another format"
                                      : " of the form '" + format + "'"),
                  errors);
    code = -1;
  }
  made.codes = std::move(cells.codes);
  return made;
}

ColumnCells as_numbers(const DateCells& dates, const DatePart& part) {
  ColumnCells cells;
  cells.numbers.reserve(dates.codes.size());
  for (const auto code : dates.codes)
    cells.numbers.push_back(
        code < 0 ? std::numeric_limits<double>::quiet_NaN()
                 : static_cast<double>(part.value(dates.dates[static_cast<std::size_t>(code)])));
  return cells;
}

ColumnCells as_names(const DateCells& dates, const DatePart& part) {
  ColumnCells cells;
  cells.kind = ColumnKind::names;
  std::vector<std::int32_t> codes;  // of each date
  for (const auto& date : dates.dates) {
    const auto name = category_name(part, part.value(date));
    const auto found = std::find(cells.names.begin(), cells.names.end(), name);
    codes.push_back(static_cast<std::int32_t>(found - cells.names.begin()));
    if (found == cells.names.end()) cells.names.push_back(name);
  }
  cells.codes.reserve(dates.codes.size());
  for (const auto code : dates.codes)
    cells.codes.push_back(code < 0 ? -1 : codes[static_cast<std::size_t>(code)]);
  return cells;
}

template <class Columns>
bool has_column(const Columns& columns, const std::string& name) {
  return std::any_of(columns.begin(), columns.end(),
                     [&](const auto& column) { return column.name == name; });
}

bool is_wanted(const DatePart& part, const DateColumn& column, const std::string& name,
               const TableFit* fit) {
  if (part.of_time && !column.time) return false;
  return fit == nullptr || has_column(fit->categories, name) || has_column(fit->continuous, name);
}

void require_free(const TableSource& source, const TableCells& cells, const std::string& name) {
  if (source.column(name) || has_column(cells.categories, name) ||
      has_column(cells.continuous, name))
    throw Error(Exit::recipe, Option{"data.dates"},
                "the part '{}' of a date is called like another column; rename that", name);
}

bool is_constant(const ColumnCells& cells, const std::vector<std::size_t>& rows) {
  std::optional<double> first;
  for (const auto row : rows) {
    const double value =
        cells.kind == ColumnKind::numbers ? cells.numbers[row] : double(cells.codes[row]);
    const bool missing = cells.kind == ColumnKind::numbers ? std::isnan(value) : value < 0;
    if (missing) continue;
    if (first && *first != value) return false;
    first = value;
  }
  return true;
}

}  // namespace

void add_date_parts(const TableSource& source, const TableOptions& options, const TableFit* fit,
                    TableCells& cells, RowErrors* errors) {
  for (const auto& column : options.dates) {
    const auto dates = read_dates(source, options, column, errors);
    const auto prefix = date_prefix(column.column);
    for (const auto& part : date_parts()) {
      const auto name = prefix + std::string(part.name);
      if (!is_wanted(part, column, name, fit)) continue;
      if (fit == nullptr) require_free(source, cells, name);
      auto& columns = part.category ? cells.categories : cells.continuous;
      columns.push_back({name, dates.index,
                         part.category ? as_names(dates, part) : as_numbers(dates, part), true});
    }
  }
}

void drop_constant_parts(TableCells& cells, const std::vector<std::size_t>& rows) {
  for (auto* columns : {&cells.categories, &cells.continuous})
    std::erase_if(*columns, [&](const TableColumn& column) {
      return column.date_part && is_constant(column.cells, rows);
    });
}

bool is_date_part(const TableOptions& options, const std::string& name) {
  for (const auto& column : options.dates)
    for (const auto& part : date_parts())
      if (name == date_prefix(column.column) + std::string(part.name)) return true;
  return false;
}

}  // namespace ddptrain
