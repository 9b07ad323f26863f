#include "sources/table/table.h"

#include <cmath>
#include <numeric>
#include <set>

#include "base/output/log.h"
#include "base/text.h"
#include "sources/dictionary.h"
#include "sources/table/date_columns.h"

namespace ddptrain {
namespace {

constexpr std::int64_t unseen = -1;

/// What the codes of a column's cells become: places in `classes`, or unseen.
std::vector<std::int64_t> translation(const ColumnCells& cells,
                                      const std::vector<std::string>& classes) {
  Dictionary places;
  std::int32_t place = 0;
  for (const auto& name : classes) places.find_or_add(name, place++);
  std::vector<std::int64_t> found;
  for (const auto name : cells.names) found.push_back(places.find_or_add(name, unseen));
  return found;
}

/// Writes the rows of a split from what is fitted.
class Encoder {
 public:
  /// Cells that are wrong are noted in `errors`; thrown where it is null.
  Encoder(const TableSource& source, const TableCells& cells, const TableFit& fit, Unseen policy,
          RowErrors* errors)
      : source_(source), cells_(cells), fit_(fit), policy_(policy), errors_(errors) {}

  void encode(TableRows& split, std::size_t number) {
    number_ = number;
    split.categories.resize(split.rows.size() * fit_.categories.size());
    split.continuous.resize(split.rows.size() * fit_.continuous.size());
    std::size_t named = 0;
    for (std::size_t i = 0; i < fit_.categories.size(); ++i)
      if (!fit_.categories[i].missing_of)
        encode_names(cells_.categories.at(named++), i, split);
      else
        encode_missing(number_column(*fit_.categories[i].missing_of), i, split);
    for (std::size_t i = 0; i < fit_.continuous.size(); ++i) encode_numbers(i, split);
    if (!cells_.targets.empty()) encode_targets(split);
  }
  /// Of all splits encoded.
  const std::vector<UnseenNames>& unseen_names() const { return unseen_; }

 private:
  const TableColumn& number_column(const std::string& name) const {
    std::size_t i = 0;
    while (fit_.continuous.at(i).name != name) ++i;
    return cells_.continuous[i];
  }

  void encode_names(const TableColumn& column, std::size_t place, TableRows& split) {
    const auto& fitted = fit_.categories[place];
    const auto codes = translation(column.cells, fitted.classes);
    auto* to = split.categories.data() + place;
    std::int64_t rows = 0;
    std::set<std::int32_t> unknown;
    for (const auto row : split.rows) {
      const auto name = column.cells.codes[row];
      auto code = name < 0 ? 0 : codes[static_cast<std::size_t>(name)];
      if (code == unseen) {
        code = replace_unseen(row, column);
        ++rows;
        unknown.insert(name);
      }
      *to = code;
      to += fit_.categories.size();
    }
    if (rows > 0) unseen_.push_back({column.name, rows, std::ssize(unknown), number_});
  }

  std::int64_t replace_unseen(std::size_t row, const TableColumn& column) const {
    if (policy_ == Unseen::error)
      source_.report(
          row, column.index,
          "'" + source_.cell(row, column.index) + "' is in no training row (data.unseen)", errors_);
    return 0;
  }

  void encode_missing(const TableColumn& column, std::size_t place, TableRows& split) const {
    auto* to = split.categories.data() + place;
    for (const auto row : split.rows) {
      *to = std::isnan(column.cells.numbers[row]) ? 2 : 1;
      to += fit_.categories.size();
    }
  }

  void encode_numbers(std::size_t place, TableRows& split) const {
    const auto& fitted = fit_.continuous[place];
    const auto& column = cells_.continuous[place];
    auto* to = split.continuous.data() + place;
    for (const auto row : split.rows) {
      double value = column.cells.numbers[row];
      if (std::isnan(value)) value = fill(row, column, fitted);
      *to = static_cast<float>((value - fitted.mean) / fitted.deviation);
      to += fit_.continuous.size();
    }
  }

  double fill(std::size_t row, const TableColumn& column, const ContinuousColumn& fitted) const {
    if (!fitted.fill)
      source_.report(row, column.index,
                     "missing, and no training row lacks it: nothing says what to fill in",
                     errors_);
    return fitted.fill.value_or(0);
  }

  void encode_targets(TableRows& split) const {
    if (!fit_.target_classes.empty()) return encode_class(cells_.targets[0], split);
    for (const auto row : split.rows)
      for (const auto& target : cells_.targets)
        split.numbers.push_back(static_cast<float>(target.cells.numbers[row]));
  }

  void encode_class(const TableColumn& target, TableRows& split) const {
    const auto labels = translation(target.cells, fit_.target_classes);
    for (const auto row : split.rows) {
      split.labels.push_back(labels[static_cast<std::size_t>(target.cells.codes[row])]);
      if (split.labels.back() == unseen)
        source_.fail(row, target.index,
                     "class '" + source_.cell(row, target.index) +
                         "' is in no training row; 'policy.on_unknown_class: skip' leaves it out");
    }
  }

  const TableSource& source_;
  const TableCells& cells_;
  const TableFit& fit_;
  Unseen policy_;
  RowErrors* errors_;
  std::size_t number_ = 0;  // of the split
  std::vector<UnseenNames> unseen_;
};

/// A fit and the rows of each split, none of them encoded yet.
Table planned(TableFit fit, RowSplits splits) {
  Table table{std::move(fit), {}, {}, {}};
  for (const std::size_t split : {0, 1}) table.splits[split].rows = std::move(splits[split]);
  return table;
}

Table encoded(Table table, const TableSource& source, const TableCells& cells,
              const TableOptions& options, RowErrors* errors = nullptr) {
  Encoder encoder(source, cells, table.fit, options.unseen, errors);
  for (const std::size_t split : {0, 1}) encoder.encode(table.splits[split], split);
  table.unseen = encoder.unseen_names();
  return table;
}

/// Rows whose target is a class that is not fitted.
void leave_out_unknown(RowSplits& splits, const TableColumn& target, const TableFit& fit,
                       const KnownClasses& classes) {
  if (fit.target_classes.empty()) return;
  ClassNumbers numbers(classes, fit.target_classes);
  for (auto& rows : splits)
    std::erase_if(rows, [&](std::size_t row) {
      const auto name = target.cells.names[static_cast<std::size_t>(target.cells.codes[row])];
      return !numbers.of(std::string(name), {});
    });
  if (const auto note = numbers.left_out(); !note.empty()) log::warning(note);
}

}  // namespace

std::vector<std::string> unseen_notes(const Table& table) {
  std::vector<std::string> notes;
  for (const auto& unseen : table.unseen)
    notes.push_back("column '" + unseen.column + "': " + plural(unseen.rows, "row") + " with " +
                    plural(unseen.names, "name") +
                    " that no training row has, read as '#na#', which is missing");
  return notes;
}

Table read_table(const TableSource& source, const TableOptions& options, const std::string& fitted,
                 const KnownClasses& classes) {
  if (fitted.empty()) {
    auto cells = read_cells(source, options);
    auto splits = split_rows(source, options, cells.targets.front().cells);
    drop_constant_parts(cells, splits[0]);
    auto fit = fit_table(cells, splits, options);
    if (classes.skip_unknown) leave_out_unknown(splits, cells.targets.front(), fit, classes);
    return encoded(planned(std::move(fit), std::move(splits)), source, cells, options);
  }
  auto fit = fit_from_json(fitted, options);
  const auto cells = read_cells(source, options, fit);
  auto splits = split_rows(source, options, cells.targets.front().cells);
  if (classes.skip_unknown) leave_out_unknown(splits, cells.targets.front(), fit, classes);
  return encoded(planned(std::move(fit), std::move(splits)), source, cells, options);
}

Table read_unlabeled_table(const TableSource& source, const TableOptions& options,
                           const std::string& fitted) {
  auto fit = fit_from_json(fitted, options);
  RowErrors errors;
  const auto cells = read_inputs(source, options, fit, errors);
  RowSplits splits;
  splits[1].resize(source.rows());
  std::iota(splits[1].begin(), splits[1].end(), std::size_t{0});
  auto table = encoded(planned(std::move(fit), std::move(splits)), source, cells, options, &errors);
  source.add_places(errors);
  table.errors = std::move(errors);
  return table;
}

}  // namespace ddptrain
