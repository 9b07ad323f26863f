#include "sources/image/image_csv.h"

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/output/log.h"
#include "sources/csv/csv.h"
#include "sources/csv/csv_columns.h"
#include "sources/split/split.h"

namespace ddptrain {

std::optional<std::size_t> column_of(const Csv& csv, const std::optional<std::string>& name,
                                     std::string_view usual) {
  if (name) return csv.required_column(*name);
  return csv.column(usual);
}

std::size_t split_at(const Csv& csv, std::size_t row, std::optional<std::size_t> column) {
  if (!column) return 0;
  const auto& word = csv.at(row, *column);
  for (const auto* train : {"train", "False", "false", "0"})
    if (word == train) return 0;
  for (const auto* valid : {"valid", "True", "true", "1"})
    if (word == valid) return 1;
  csv.fail(row, *column, "'" + word + "' is neither 'train' nor 'valid' (nor 'False' or 'True')");
}

std::vector<double> numbers_at(const Csv& csv, std::size_t row,
                               const std::vector<std::size_t>& columns) {
  const auto& missing = pandas_missing();
  std::vector<double> numbers;
  for (const auto column : columns) {
    const auto cell = csv.cell(row, column);
    const auto number = cell_number(cell, csv.format());
    if (number.is == CellNumber::number)
      numbers.push_back(number.value);
    else if (std::find(missing.begin(), missing.end(), cell) != missing.end())
      numbers.push_back(std::numeric_limits<double>::quiet_NaN());
    else
      csv.fail(row, column,
               "'" + std::string(cell) + "' is " +
                   (number.is == CellNumber::other ? "no number" : "too large") +
                   "; leave the cell empty where it is missing");
  }
  return numbers;
}

std::vector<std::string> groups_at(const Csv& csv, const ValidSpec& valid,
                                   std::optional<std::size_t> split) {
  if (!valid.fold || !valid.fold->groups) return {};
  const auto column = csv.required_column(*valid.fold->groups);
  std::vector<std::string> groups;
  for (std::size_t row = 0; row < csv.rows(); ++row) {
    if (split_at(csv, row, split) != 0) continue;
    if (csv.at(row, column).empty()) csv.fail(row, column, "empty; a row needs a group");
    groups.push_back(csv.at(row, column));
  }
  return groups;
}

void divide_rows(ImageList& list, const ValidSpec& valid, const Csv& csv, bool has_split) {
  const bool held_out = valid.fraction || valid.list || valid.folder;
  if (!has_split && !held_out && !valid.fold)
    throw Error(Exit::data,
                "{}: no column 'split'; add one, name another in data.columns.split, or write "
                "data.valid.fraction",
                csv.path());
  if (has_split && held_out)
    throw Error(Exit::recipe,
                Option{valid.list     ? "data.valid.list"
                       : valid.folder ? "data.valid.folder"
                                      : "data.valid.fraction"},
                "has no effect: a column of '{}' says what is held out", csv.path());
  if (has_split && valid.fold)
    log::info("rows of split 'valid' of '{}' are not used: a fold of the others is held out",
              csv.path());
  if (!has_split || valid.fold) divide(list, valid);
  for (const std::size_t split : {0, 1})
    if (list.files[split].empty())
      throw Error(Exit::data, "{}: no rows in split '{}", csv.path(),
                  split == 0 ? "train'" : "valid'");
}

}  // namespace ddptrain
