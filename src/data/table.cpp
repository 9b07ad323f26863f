#include "data/table.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {

std::span<const std::string_view> names(Fill) {
  static constexpr std::array<std::string_view, 3> words{"median", "constant", "mode"};
  return words;
}
std::span<const std::string_view> names(TableTask) {
  static constexpr std::array<std::string_view, 3> words{"auto", "classification", "regression"};
  return words;
}
std::span<const std::string_view> names(Unseen) {
  static constexpr std::array<std::string_view, 3> words{"missing", "class", "error"};
  return words;
}

void TableValid::fields(Fields& f) {
  f("fraction", fraction,
    {.doc = "Share of the rows that is held out.",
     .min = 0,
     .max = 1,
     .above_min = true,
     .below_max = true});
  f("column", column, {.doc = "Column that says 'train' or 'valid' instead."});
  f("rows", rows,
    {.doc = "The rows that are held out instead, from 0 below the header.", .min = 0});
  f("seed", seed, {.doc = "Which rows a fraction holds out.", .min = 0});
  f("order", order,
    {.doc = "'torch' divides as torch's random_split, 'fastai' as fastai's RandomSplitter."});
}

void TableOptions::fields(Fields& f) {
  f("file", file,
    {.doc = "CSV file whose header names the columns.", .required = true, .path = true});
  f("target", target, {.doc = "The column to predict.", .required = true});
  f("task", task,
    {.doc = "auto: regression where every target is a number, otherwise classification."});
  f("categories", categories,
    {.doc = "Columns of names; auto: all others that are not all numbers."});
  f("continuous", continuous, {.doc = "Columns of numbers; auto: all others that are."});
  f("drop", drop, {.doc = "Columns that 'auto' leaves out."});
  f("missing", missing, {.doc = "Cells that stand for a missing value."});
  f("unseen", unseen,
    {.doc = "What a name becomes that only held-out rows have: like a missing one, a class of its "
            "own (as fastai does), or an error."});
  f("fill", fill,
    {.doc = "What a missing number becomes: the median or the commonest of the training rows, or "
            "fill_value."});
  f("fill_value", fill_value, {.doc = "The number of 'fill: constant'."});
  f("add_na", add_na,
    {.doc = "Add a category NAME_na that tells which numbers of column NAME were missing."});
  f("normalize", normalize, {.doc = "Take off the mean and divide by the deviation."});
  f("valid", valid, {.doc = "Which rows are held out."});
}

namespace {

constexpr std::string_view unknown = "#na#";

bool in_numeric_order(const std::string& a, const std::string& b) {
  return *parse_number(a) < *parse_number(b);
}

/// Each once; as numbers where all are, otherwise bytewise.
std::vector<std::string> sorted_classes(std::vector<std::string> cells) {
  std::sort(cells.begin(), cells.end());
  cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
  const auto is_number = [](const auto& cell) { return parse_number(cell).has_value(); };
  if (std::all_of(cells.begin(), cells.end(), is_number))
    std::stable_sort(cells.begin(), cells.end(), in_numeric_order);
  return cells;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// The commonest value, of equally common ones the first met.
double mode(const std::vector<double>& values) {
  std::map<double, std::size_t> counts;
  std::size_t most = 0;
  for (const double value : values) most = std::max(most, ++counts[value]);
  return *std::find_if(values.begin(), values.end(),
                       [&](double value) { return counts[value] == most; });
}

class Preparation {
 public:
  explicit Preparation(const TableOptions& options) : options_(options), csv_(options.file) {}

  Table run() {
    target_ = column(options_.target, "target");
    split_rows();
    choose_columns();
    fit_continuous();
    fit_categories();
    fit_target();
    for (auto& split : table_.splits)
      for (const auto row : split.rows) encode(row, split);
    return std::move(table_);
  }

 private:
  std::size_t column(const std::string& name, const std::string& option) const {
    if (const auto found = csv_.column(name)) return *found;
    const auto near = nearest(name, csv_.header());
    throw Error(Exit::recipe, "data." + option + ": '" + options_.file + "' has no column '" +
                                  name + "'" +
                                  (near.empty() ? "" : "; did you mean '" + near + "'?"));
  }

  bool missing(std::size_t row, std::size_t column) const {
    const auto& cell = csv_.at(row, column);
    return std::find(options_.missing.begin(), options_.missing.end(), cell) !=
           options_.missing.end();
  }

  double number(std::size_t row, std::size_t column) const {
    if (const auto value = parse_number(csv_.at(row, column))) return *value;
    csv_.fail(row, column,
              "'" + csv_.at(row, column) +
                  "' is not a number; if it stands for a missing one, list it in data.missing");
  }

  bool all_numbers(std::size_t column) const {
    for (std::size_t row = 0; row < csv_.rows(); ++row)
      if (!missing(row, column) && !parse_number(csv_.at(row, column))) return false;
    return true;
  }

  void split_rows() {
    const auto& valid = options_.valid;
    const int ways = valid.fraction.has_value() + valid.column.has_value() + !valid.rows.empty();
    if (ways != 1)
      throw Error(Exit::recipe,
                  "data.valid: write one of fraction, column and rows (null removes one)");
    if (valid.fraction) return split_by_fraction();
    if (valid.column) return split_by_column(column(*valid.column, "valid.column"));
    std::vector<bool> held(csv_.rows());
    for (const auto row : valid.rows) {
      if (row >= static_cast<std::int64_t>(csv_.rows()))
        throw Error(Exit::data, "data.valid.rows: there is no row " + std::to_string(row) + "; '" +
                                    options_.file + "' has " + std::to_string(csv_.rows()));
      held[static_cast<std::size_t>(row)] = true;
    }
    for (std::size_t row = 0; row < csv_.rows(); ++row)
      table_.splits[held[row] ? 1 : 0].rows.push_back(row);
    require_both();
  }

  void split_by_fraction() {
    ValidSpec spec;
    spec.fraction = options_.valid.fraction;
    spec.seed = options_.valid.seed;
    spec.order = options_.valid.order;
    const auto parts = split_samples(static_cast<std::int64_t>(csv_.rows()), spec);
    table_.splits[0].rows.assign(parts.train.begin(), parts.train.end());
    table_.splits[1].rows.assign(parts.valid.begin(), parts.valid.end());
    require_both();
  }

  void split_by_column(std::size_t by) {
    split_column_ = by;
    for (std::size_t row = 0; row < csv_.rows(); ++row) {
      const auto& word = csv_.at(row, by);
      if (word != "train" && word != "valid")
        csv_.fail(row, by, "'" + word + "' is neither 'train' nor 'valid'");
      table_.splits[word == "valid" ? 1 : 0].rows.push_back(row);
    }
    require_both();
  }

  void require_both() const {
    for (const auto split : {0, 1})
      if (table_.splits[static_cast<std::size_t>(split)].rows.empty())
        throw Error(Exit::data,
                    options_.file + ": no rows in split '" + (split == 0 ? "train'" : "valid'"));
  }

  void choose_columns() {
    std::vector<std::string> names, numbers;
    for (const auto& name : csv_.header()) {
      const auto index = *csv_.column(name);
      const bool dropped =
          std::find(options_.drop.begin(), options_.drop.end(), name) != options_.drop.end();
      if (dropped || index == target_ || index == split_column_) continue;
      const bool free = !listed(options_.categories, name) && !listed(options_.continuous, name);
      if (free) (all_numbers(index) ? numbers : names).push_back(name);
    }
    for (const auto& name : options_.drop) column(name, "drop");
    for (const auto& name : options_.categories.value.value_or(names))
      table_.categories.push_back({name, {}, usable(name, "categories")});
    for (const auto& name : options_.continuous.value.value_or(numbers))
      table_.continuous.push_back({name, usable(name, "continuous"), {}});
    if (table_.categories.empty() && table_.continuous.empty())
      throw Error(Exit::recipe,
                  "data: no column is left to predict '" + options_.target + "' from");
  }

  static bool listed(const Auto<std::vector<std::string>>& columns, const std::string& name) {
    return columns.value &&
           std::find(columns.value->begin(), columns.value->end(), name) != columns.value->end();
  }

  std::size_t usable(const std::string& name, const std::string& option) const {
    const auto index = column(name, option);
    if (index == target_)
      throw Error(Exit::recipe, "data." + option + ": '" + name + "' is the target");
    return index;
  }

  void fit_continuous() {
    for (auto& column : table_.continuous) {
      std::vector<double> known;
      const auto& rows = table_.splits[0].rows;
      for (const auto row : rows)
        if (!missing(row, column.column)) known.push_back(number(row, column.column));
      if (known.size() < rows.size()) add_fill(column, known);
      if (options_.normalize) fit_normal(column, known, rows.size());
    }
  }

  void add_fill(ContinuousColumn& column, const std::vector<double>& known) {
    if (known.empty() && options_.fill != Fill::constant)
      throw Error(Exit::data, options_.file + ": column '" + column.name +
                                  "' has no number in any training row; leave it out");
    if (options_.fill == Fill::median) column.fill = median(known);
    if (options_.fill == Fill::mode) column.fill = mode(known);
    if (options_.fill == Fill::constant) column.fill = options_.fill_value;
    if (options_.add_na)
      table_.categories.push_back(
          {column.name + "_na", {std::string(unknown), "False", "True"}, column.column, true});
  }

  static void fit_normal(ContinuousColumn& column, const std::vector<double>& known,
                         std::size_t rows) {
    const auto n = static_cast<double>(rows);
    const double filled = n - static_cast<double>(known.size());
    const double fill = column.fill.value_or(0);
    double sum = filled * fill;
    for (const double value : known) sum += value;
    column.mean = sum / n;
    double squares = filled * (fill - column.mean) * (fill - column.mean);
    for (const double value : known) squares += (value - column.mean) * (value - column.mean);
    column.deviation = std::sqrt(squares / n) + 1e-7;
  }

  void fit_categories() {
    for (auto& column : table_.categories) {
      if (column.tells_missing) continue;
      std::vector<std::string> cells;
      const std::size_t splits = options_.unseen == Unseen::own_class ? 2 : 1;
      for (std::size_t split = 0; split < splits; ++split)
        for (const auto row : table_.splits[split].rows)
          if (!missing(row, column.column)) cells.push_back(csv_.at(row, column.column));
      column.classes = sorted_classes(std::move(cells));
      column.classes.insert(column.classes.begin(), std::string(unknown));
    }
    for (const auto& column : table_.categories) {
      auto& codes = codes_.emplace_back();
      for (std::size_t i = 1; i < column.classes.size(); ++i)
        codes.emplace(column.classes[i], static_cast<std::int64_t>(i));
    }
  }

  void fit_target() {
    auto task = options_.task;
    if (task == TableTask::automatic)
      task = all_numbers(target_) ? TableTask::regression : TableTask::classification;
    if (task == TableTask::regression) return;
    std::vector<std::string> cells;
    for (const auto row : table_.splits[0].rows) cells.push_back(target_cell(row));
    table_.target_classes = sorted_classes(std::move(cells));
    for (const auto& name : table_.target_classes)
      labels_.emplace(name, static_cast<std::int64_t>(labels_.size()));
  }

  std::string target_cell(std::size_t row) const {
    if (missing(row, target_)) csv_.fail(row, target_, "the target is missing");
    return csv_.at(row, target_);
  }

  void encode(std::size_t row, TableRows& split) const {
    for (std::size_t c = 0; c < table_.categories.size(); ++c)
      split.categories.push_back(code(row, c));
    for (const auto& column : table_.continuous)
      split.continuous.push_back(static_cast<float>(normal(row, column)));
    const auto& target = target_cell(row);
    if (table_.target_classes.empty())
      return split.numbers.push_back(static_cast<float>(number(row, target_)));
    const auto found = labels_.find(target);
    if (found == labels_.end())
      csv_.fail(row, target_, "class '" + target + "' is only in the valid rows");
    split.labels.push_back(found->second);
  }

  std::int64_t code(std::size_t row, std::size_t c) const {
    const auto& column = table_.categories[c];
    if (column.tells_missing) return missing(row, column.column) ? 2 : 1;
    if (missing(row, column.column)) return 0;
    const auto found = codes_[c].find(csv_.at(row, column.column));
    if (found != codes_[c].end()) return found->second;
    if (options_.unseen == Unseen::error)
      csv_.fail(row, column.column,
                "'" + csv_.at(row, column.column) + "' is in no training row (data.unseen)");
    return 0;
  }

  double normal(std::size_t row, const ContinuousColumn& column) const {
    if (!missing(row, column.column))
      return (number(row, column.column) - column.mean) / column.deviation;
    if (!column.fill)
      csv_.fail(row, column.column,
                "missing, and no training row lacks it: nothing says what to fill in");
    return (*column.fill - column.mean) / column.deviation;
  }

  const TableOptions& options_;
  Csv csv_;
  Table table_;
  std::size_t target_ = 0;
  std::optional<std::size_t> split_column_;
  std::vector<std::map<std::string, std::int64_t>> codes_;  // of each category column
  std::map<std::string, std::int64_t> labels_;
};

}  // namespace

Table read_table(const TableOptions& options) { return Preparation(options).run(); }

}  // namespace ddptrain
