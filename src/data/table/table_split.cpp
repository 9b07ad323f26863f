#include "data/table/table_split.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {
namespace {

RowSplits by_fraction(const Csv& csv, const ValidRows& valid) {
  ValidSpec spec;
  spec.fraction = valid.fraction;
  spec.seed = valid.seed;
  spec.order = valid.order;
  const auto parts = split_samples(static_cast<std::int64_t>(csv.rows()), spec);
  return {std::vector<std::size_t>(parts.train.begin(), parts.train.end()),
          std::vector<std::size_t>(parts.valid.begin(), parts.valid.end())};
}

bool held_out(const Csv& csv, std::size_t row, std::size_t column) {
  const auto word = lower(csv.cell(row, column));
  if (word == "valid" || word == "true" || word == "1") return true;
  if (word == "train" || word == "false" || word == "0") return false;
  csv.fail(row, column, "'" + csv.at(row, column) + "' is neither 'train' nor 'valid'");
}

RowSplits by_column(const Csv& csv, std::size_t column) {
  RowSplits splits;
  for (std::size_t row = 0; row < csv.rows(); ++row)
    splits[held_out(csv, row, column) ? 1 : 0].push_back(row);
  return splits;
}

RowSplits by_rows(const Csv& csv, const TableOptions& options) {
  std::vector<bool> held(csv.rows());
  for (const auto row : options.valid.rows) {
    if (row >= static_cast<std::int64_t>(csv.rows()))
      throw Error(Exit::data, "data.valid.rows: there is no row " + std::to_string(row) + "; '" +
                                  options.file + "' has " + std::to_string(csv.rows()));
    held[static_cast<std::size_t>(row)] = true;
  }
  RowSplits splits;
  for (std::size_t row = 0; row < csv.rows(); ++row) splits[held[row] ? 1 : 0].push_back(row);
  return splits;
}

RowSplits by_rule(const Csv& csv, const TableOptions& options) {
  if (options.valid.fraction) return by_fraction(csv, options.valid);
  if (const auto column = split_column(csv, options)) return by_column(csv, *column);
  return by_rows(csv, options);
}

}  // namespace

std::size_t named_column(const Csv& csv, const std::string& name, const std::string& option) {
  if (const auto found = csv.column(name)) return *found;
  const auto near = nearest(name, csv.header());
  throw Error(Exit::recipe, "data." + option + ": '" + csv.path() + "' has no column '" + name +
                                "'" + (near.empty() ? "" : "; did you mean '" + near + "'?"));
}

std::optional<std::size_t> split_column(const Csv& csv, const TableOptions& options) {
  if (!options.valid.column) return {};
  return named_column(csv, *options.valid.column, "valid.column");
}

RowSplits split_rows(const Csv& csv, const TableOptions& options) {
  const auto& valid = options.valid;
  if (valid.fraction.has_value() + valid.column.has_value() + !valid.rows.empty() != 1)
    throw Error(Exit::recipe,
                "data.valid: write one of fraction, column and rows (null removes one)");
  auto splits = by_rule(csv, options);
  for (const auto split : {0, 1})
    if (splits[static_cast<std::size_t>(split)].empty())
      throw Error(Exit::data,
                  options.file + ": no rows in split '" + (split == 0 ? "train'" : "valid'"));
  return splits;
}

}  // namespace ddptrain
