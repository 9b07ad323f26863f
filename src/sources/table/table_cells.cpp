#include "sources/table/table_cells.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"
#include "sources/table/date_columns.h"
#include "sources/table/table_fit.h"
#include "sources/table/table_split.h"

namespace ddptrain {
namespace {

using Names = std::vector<std::string>;

bool contains(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

enum class Part { category, continuous, either, target };

/// Columns to read, and what each is for.
class Wanted {
 public:
  void add(const std::string& name, std::size_t index, Part part, ColumnKind kind) {
    names_.push_back(name);
    indices_.push_back(index);
    parts_.push_back(part);
    kinds_.push_back(kind);
  }

  TableCells read(const TableSource& source, const TableOptions& options,
                  RowErrors* errors = nullptr) const {
    auto read = source.read_columns(indices_, kinds_, options.missing_spellings(), errors);
    TableCells cells;
    for (std::size_t i = 0; i < read.size(); ++i) {
      const bool numeric = read[i].kind == ColumnKind::numbers;
      TableColumn column{names_[i], indices_[i], std::move(read[i])};
      if (parts_[i] == Part::target)
        cells.targets.push_back(std::move(column));
      else if (parts_[i] == Part::category ||
               (parts_[i] == Part::either && !numeric && options.categories.automatic()))
        cells.categories.push_back(std::move(column));
      else if (parts_[i] == Part::continuous || (numeric && options.continuous.automatic()))
        cells.continuous.push_back(std::move(column));
    }
    return cells;
  }

 private:
  Names names_;
  std::vector<std::size_t> indices_;
  std::vector<Part> parts_;
  std::vector<ColumnKind> kinds_;
};

ColumnKind kind_of(TableTask task) {
  if (task == TableTask::automatic) return ColumnKind::automatic;
  return task == TableTask::regression ? ColumnKind::numbers : ColumnKind::names;
}

bool is_date_column(const TableOptions& options, const std::string& name) {
  return std::any_of(options.dates.begin(), options.dates.end(),
                     [&](const DateColumn& date) { return date.column == name; });
}

void require_no_target(const TableOptions& options, const std::string& name,
                       const std::string& option) {
  if (contains(options.target.names(), name))
    throw Error(Exit::recipe, Option{"data." + option}, "'{}' is {} target", name,
                options.target.listed() ? "a" : "the");
}

void add_listed(const TableSource& source, const TableOptions& options, Part part, Wanted& wanted) {
  const bool category = part == Part::category;
  const std::string option = category ? "categories" : "continuous";
  const auto listed = (category ? options.categories : options.continuous).value.value_or(Names{});
  for (const auto& name : listed) {
    const auto index = named_column(source, name, option);
    require_no_target(options, name, option);
    wanted.add(name, index, part, category ? ColumnKind::names : ColumnKind::numbers);
  }
}

void add_others(const TableSource& source, const TableOptions& options, Wanted& wanted) {
  for (const auto& name : options.drop) named_column(source, name, "drop");
  if (!options.categories.automatic() && !options.continuous.automatic()) return;
  const auto by = split_column(source, options);
  const auto targets = options.target.names();
  for (std::size_t index = 0; index < source.header().size(); ++index) {
    const auto& name = source.header()[index];
    const bool taken = contains(targets, name) || is_date_column(options, name) || index == by ||
                       contains(options.drop, name) ||
                       contains(options.categories.value.value_or(Names{}), name) ||
                       contains(options.continuous.value.value_or(Names{}), name);
    if (!taken) wanted.add(name, index, Part::either, ColumnKind::automatic);
  }
}

/// Columns of one kind, or as automatic those that are listed as numbers.
void add_targets(const TableSource& source, const TableOptions& options, ColumnKind kind,
                 Wanted& wanted) {
  for (const auto& name : options.target.names())
    wanted.add(name, named_column(source, name, "target"), Part::target, kind);
}

/// One that is listed is a number, or missing.
void read_as_numbers(const TableSource& source, const TableOptions& options, TableColumn& target) {
  if (target.cells.kind == ColumnKind::numbers) return;
  RowErrors errors;
  target.cells = source.read_columns({target.index}, {ColumnKind::numbers},
                                     options.missing_spellings(), &errors)[0];
  if (errors.empty()) return;
  const auto row = errors.begin()->first;
  source.fail(row, target.index,
              "'" + source.cell(row, target.index) +
                  "' is not a number, and targets that are listed are; a class is predicted "
                  "alone: 'target: " +
                  target.name + "'");
}

/// One that is not listed is there in every row.
void require_target(const TableSource& source, const TableColumn& target) {
  for (std::size_t row = 0; row < source.rows(); ++row) {
    const bool missing = target.cells.kind == ColumnKind::names
                             ? target.cells.codes[row] < 0
                             : std::isnan(target.cells.numbers[row]);
    if (!missing) continue;
    const auto cell = source.cell(row, target.index);
    source.fail(row, target.index,
                "the target is missing" +
                    (cell.empty() ? cell : ": data.missing counts '" + cell + "' as such") +
                    (target.cells.kind == ColumnKind::names
                         ? ""
                         : "; 'target: [" + target.name + "]' leaves it out of loss and metrics"));
  }
}

void require_targets(const TableSource& source, const TableOptions& options, TableCells& cells) {
  for (auto& target : cells.targets)
    if (options.target.listed())
      read_as_numbers(source, options, target);
    else
      require_target(source, target);
}

std::size_t fitted_column(const TableSource& source, const std::string& name) {
  if (const auto found = source.column(name)) return *found;
  throw Error(Exit::data, "{}:1: no column '{}', which the model was trained on; there are '{}'",
              source.path(), name, join(source.header(), "', '"));
}

Wanted fitted_inputs(const TableSource& source, const TableOptions& options, const TableFit& fit) {
  Wanted wanted;
  for (const auto& column : fit.categories)
    if (!column.missing_of && !is_date_part(options, column.name))
      wanted.add(column.name, fitted_column(source, column.name), Part::category,
                 ColumnKind::names);
  for (const auto& column : fit.continuous)
    if (!is_date_part(options, column.name))
      wanted.add(column.name, fitted_column(source, column.name), Part::continuous,
                 ColumnKind::numbers);
  return wanted;
}

}  // namespace

TableCells read_cells(const TableSource& source, const TableOptions& options) {
  Wanted wanted;
  add_targets(source, options, kind_of(options.task), wanted);
  add_listed(source, options, Part::category, wanted);
  add_listed(source, options, Part::continuous, wanted);
  add_others(source, options, wanted);
  for (const auto& date : options.dates) require_no_target(options, date.column, "dates");
  auto cells = wanted.read(source, options);
  add_date_parts(source, options, nullptr, cells);
  if (cells.categories.empty() && cells.continuous.empty())
    throw Error(Exit::recipe, Option{"data"}, "no column is left to predict '{}' from",
                join(options.target.names(), "', '"));
  require_targets(source, options, cells);
  return cells;
}

TableCells read_cells(const TableSource& source, const TableOptions& options, const TableFit& fit) {
  auto wanted = fitted_inputs(source, options, fit);
  add_targets(source, options, fit.target_classes.empty() ? ColumnKind::numbers : ColumnKind::names,
              wanted);
  auto cells = wanted.read(source, options);
  add_date_parts(source, options, &fit, cells);
  require_targets(source, options, cells);
  return cells;
}

TableCells read_inputs(const TableSource& source, const TableOptions& options, const TableFit& fit,
                       RowErrors& errors) {
  auto cells = fitted_inputs(source, options, fit).read(source, options, &errors);
  add_date_parts(source, options, &fit, cells, &errors);
  return cells;
}

}  // namespace ddptrain
