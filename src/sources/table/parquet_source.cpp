#include "sources/table/parquet_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>

#include "base/error.h"
#include "base/output/long_work.h"
#include "sources/csv/csv_columns.h"
#include "sources/parquet/open_parquet.h"

namespace ddptrain {
namespace {

constexpr double missing_number = std::numeric_limits<double>::quiet_NaN();

/// As Python writes them, and so pandas.to_csv: the fewest digits that give the number back, with a
/// point.
std::string number_text(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  const std::string shortest(text, end);
  return shortest.find_first_of(".ein") == std::string::npos ? shortest + ".0" : shortest;
}

/// Cells as numbers.
class NumberCells final : public ParquetCells {
 public:
  struct Context {
    const TableSource& source;
    std::size_t column = 0;
    const std::vector<std::string>& missing;
    RowErrors* errors = nullptr;  // null: they are thrown
  };
  NumberCells(std::vector<double>& numbers, const Context& context)
      : numbers_(numbers), context_(context) {}

  void missing() override { numbers_.push_back(missing_number); }
  void integer(std::int64_t value) override {
    add(static_cast<double>(value), [&] { return std::to_string(value); });
  }
  void number(double value) override {
    if (std::isnan(value)) return missing();
    if (std::abs(value) > std::numeric_limits<float>::max())
      return refuse(number_text(value) + " is larger than a float can hold (3.4e38)");
    add(value, [&] { return number_text(value); });
  }
  void text(std::string_view value) override {
    if (is_missing(value)) return missing();
    const auto parsed = cell_number(value);
    if (parsed.is != CellNumber::number) return refuse(fmt::format("'{}' is not a number", value));
    numbers_.push_back(parsed.value);
  }

 private:
  bool is_missing(std::string_view value) const {
    const auto& all = context_.missing;
    return std::find(all.begin(), all.end(), value) != all.end();
  }
  template <class Text>
  void add(double value, const Text& text) {
    const bool is_none = !context_.missing.empty() && is_missing(text());
    numbers_.push_back(is_none ? missing_number : value);
  }
  void refuse(const std::string& what) {
    context_.source.report(numbers_.size(), context_.column, what, context_.errors);
    missing();
  }

  std::vector<double>& numbers_;
  Context context_;
};

/// Cells as names with a code for each.
class NameCells final : public ParquetCells {
 public:
  NameCells(ColumnCells& cells, std::vector<std::unique_ptr<std::string>>& names,
            const std::vector<std::string>& missing)
      : cells_(cells), names_(names) {
    for (const auto& spelling : missing) codes_.emplace(spelling, -1);
  }

  void missing() override { cells_.codes.push_back(-1); }
  void integer(std::int64_t value) override { text(std::to_string(value)); }
  void number(double value) override { std::isnan(value) ? missing() : text(number_text(value)); }
  void text(std::string_view value) override {
    const auto known = codes_.find(value);
    cells_.codes.push_back(known != codes_.end() ? known->second : add(value));
  }

 private:
  std::int32_t add(std::string_view value) {
    names_.push_back(std::make_unique<std::string>(value));
    const auto code = static_cast<std::int32_t>(cells_.names.size());
    cells_.names.emplace_back(*names_.back());
    codes_.emplace(cells_.names.back(), code);
    return code;
  }

  ColumnCells& cells_;
  std::vector<std::unique_ptr<std::string>>& names_;
  std::unordered_map<std::string_view, std::int32_t> codes_;
};

ColumnKind settled(ColumnKind asked, ParquetType type) {
  if (asked != ColumnKind::automatic) return asked;
  return type == ParquetType::text ? ColumnKind::names : ColumnKind::numbers;
}

}  // namespace

ParquetSource::ParquetSource(MappedFile file) : path_(file.path()), file_(std::move(file)) {
  parquet_ = open_parquet_file(path_, file_.bytes());
  if (parquet_->rows() == 0) throw Error(Exit::data, "{}: no rows", path_);
  std::set<std::string> names;
  for (const auto& field : parquet_->fields()) {
    if (!names.insert(field.name).second)
      throw Error(Exit::data, "{}: two columns are both called '{}'", path_, field.name);
    header_.push_back(field.name);
  }
}

bool ParquetSource::has_cells(std::size_t column) const {
  return parquet_->fields()[column].type != ParquetType::other;
}

std::string ParquetSource::cell(std::size_t row, std::size_t column) const {
  const auto cells = read_columns({column}, {ColumnKind::names}, {})[0];
  const auto code = cells.codes.at(row);
  return code < 0 ? "" : std::string(cells.names[static_cast<std::size_t>(code)]);
}

std::vector<ColumnCells> ParquetSource::read_columns(const std::vector<std::size_t>& columns,
                                                     const std::vector<ColumnKind>& kinds,
                                                     const std::vector<std::string>& missing,
                                                     RowErrors* errors) const {
  std::vector<ColumnCells> read;
  LongWork work("reading '" + path_ + "'", static_cast<std::int64_t>(columns.size()));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto& field = parquet_->fields()[columns[i]];
    if (field.type == ParquetType::other)
      throw Error(Exit::data,
                  "{}: column '{}' holds {}, neither numbers nor text; list it in data.drop", path_,
                  field.name, field.type_name);
    auto& cells = read.emplace_back();
    cells.kind = settled(kinds[i], field.type);
    if (cells.kind == ColumnKind::numbers) {
      cells.numbers.reserve(rows());
      NumberCells numbers(cells.numbers, {*this, columns[i], missing, errors});
      parquet_->read(columns[i], numbers);
    } else {
      cells.codes.reserve(rows());
      NameCells names(cells, names_, missing);
      parquet_->read(columns[i], names);
    }
    work.did();
  }
  return read;
}

void ParquetSource::add_places(RowErrors& errors) const {
  for (auto& [row, error] : errors) error = fmt::format("{}: row {}, {}", path_, row, error);
}

}  // namespace ddptrain
