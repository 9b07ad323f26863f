#include "sources/table/table_split.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {
namespace {

RowSplits as_rows(const Parts& parts) {
  return {std::vector<std::size_t>(parts.train.begin(), parts.train.end()),
          std::vector<std::size_t>(parts.valid.begin(), parts.valid.end())};
}

RowSplits by_fraction(const TableSource& source, const ValidRows& valid) {
  ValidSpec spec;
  spec.fraction = valid.fraction;
  spec.seed = valid.seed;
  spec.order = valid.order;
  return as_rows(split_samples(static_cast<std::int64_t>(source.rows()), spec));
}

constexpr int neither = -1;

/// The split that a word of the split column names: 0 train, 1 valid.
int named_split(std::string_view text) {
  const auto word = lower(text);
  if (word == "valid" || word == "true" || word == "1") return 1;
  if (word == "train" || word == "false" || word == "0") return 0;
  return neither;
}

RowSplits by_column(const TableSource& source, std::size_t column) {
  const auto cells = source.read_columns({column}, {ColumnKind::names}, {})[0];
  std::vector<int> named;
  for (const auto& name : cells.names) named.push_back(named_split(name));
  RowSplits splits;
  for (std::size_t row = 0; row < source.rows(); ++row) {
    const auto code = cells.codes[row];
    const int split = code < 0 ? neither : named[static_cast<std::size_t>(code)];
    if (split == neither)
      source.fail(row, column, "'" + source.cell(row, column) + "' is neither 'train' nor 'valid'");
    splits[static_cast<std::size_t>(split)].push_back(row);
  }
  return splits;
}

RowSplits by_rows(const TableSource& source, const TableOptions& options) {
  std::vector<bool> held(source.rows());
  for (const auto row : options.valid.rows) {
    if (row >= static_cast<std::int64_t>(source.rows()))
      throw Error(Exit::data, Option{"data.valid.rows"}, "there is no row {}; '{}' has {}", row,
                  options.file, source.rows());
    held[static_cast<std::size_t>(row)] = true;
  }
  RowSplits splits;
  for (std::size_t row = 0; row < source.rows(); ++row) splits[held[row] ? 1 : 0].push_back(row);
  return splits;
}

/// The name that each row has in a column; none in a column of numbers.
std::vector<std::string> names_of(const ColumnCells& cells) {
  std::vector<std::string> all;
  for (const auto code : cells.codes) all.emplace_back(cells.names[static_cast<std::size_t>(code)]);
  return all;
}

std::vector<std::string> groups_of(const TableSource& source, std::size_t column) {
  const auto cells = source.read_columns({column}, {ColumnKind::names}, {""})[0];
  for (std::size_t row = 0; row < source.rows(); ++row)
    if (cells.codes[row] < 0) source.fail(row, column, "missing; a row needs a group");
  return names_of(cells);
}

RowSplits by_fold(const TableSource& source, const TableOptions& options,
                  const ColumnCells& target) {
  FoldKeys keys{names_of(target), {}};
  if (options.valid.fold->groups) keys.groups = groups_of(source, *split_column(source, options));
  return as_rows(fold_parts(static_cast<std::int64_t>(source.rows()), *options.valid.fold, keys,
                            options.valid.seed));
}

RowSplits by_rule(const TableSource& source, const TableOptions& options,
                  const ColumnCells& target) {
  if (options.valid.fold) return by_fold(source, options, target);
  if (options.valid.fraction) return by_fraction(source, options.valid);
  if (const auto column = split_column(source, options)) return by_column(source, *column);
  return by_rows(source, options);
}

/// "'age', 'price'", or the first of many.
std::string columns_text(const TableSource& source) {
  constexpr std::size_t most = 40;
  auto names = source.header();
  const auto more = names.size() > most ? names.size() - most : 0;
  names.resize(names.size() - more);
  return "'" + join(names, "', '") + "'" + (more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

std::size_t named_column(const TableSource& source, const std::string& name,
                         const std::string& option) {
  if (const auto found = source.column(name)) return *found;
  const auto near = nearest(name, source.header());
  throw Error(Exit::recipe, Option{"data." + option}, "'{}' has no column '{}'{} columns are {}",
              source.path(), name, near.empty() ? "; its" : did_you_mean(near) + " Its",
              columns_text(source));
}

std::optional<std::size_t> split_column(const TableSource& source, const TableOptions& options) {
  const auto& fold = options.valid.fold;
  if (fold && fold->groups) return named_column(source, *fold->groups, "valid.fold.groups");
  if (!options.valid.column) return {};
  return named_column(source, *options.valid.column, "valid.column");
}

RowSplits split_rows(const TableSource& source, const TableOptions& options,
                     const ColumnCells& target) {
  auto splits = by_rule(source, options, target);
  for (const auto split : {0, 1})
    if (splits[static_cast<std::size_t>(split)].empty())
      throw Error(Exit::data, "{}: no rows in split '{}", options.file,
                  split == 0 ? "train'" : "valid'");
  return splits;
}

}  // namespace ddptrain
