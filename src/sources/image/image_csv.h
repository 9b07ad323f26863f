// What lists of images in CSV files have in common.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/image/image_list.h"

namespace ddptrain {

class Csv;

/// A column that is named must be there; another, of a usual name, may be.
std::optional<std::size_t> column_of(const Csv& csv, const std::optional<std::string>& name,
                                     std::string_view usual);

/// The place in ImageList::files of a row's split: 0 for training, also without such a column. An
/// Error (Exit::data) where the cell is no word for a split.
std::size_t split_at(const Csv& csv, std::size_t row, std::optional<std::size_t> column);

/// What the column `valid.fold.groups` says of training rows; none where no fold names one. An
/// empty cell is an Error (Exit::data).
std::vector<std::string> groups_at(const Csv& csv, const ValidSpec& valid,
                                   std::optional<std::size_t> split);

/// Cells as numbers, NaN where they are missing as pandas.read_csv sees it. An Error (Exit::data)
/// names file, line and column of one that is no number.
std::vector<double> numbers_at(const Csv& csv, std::size_t row,
                               const std::vector<std::size_t>& columns);

/// One way to hold samples out: the column 'split', which has been read, or as `valid` says; folds
/// are of its training rows, and a log line says that the others are not used. Errors: both
/// (Exit::recipe) or none (Exit::data), a split without rows.
void divide_rows(ImageList& list, const ValidSpec& valid, const Csv& csv, bool has_split);

}  // namespace ddptrain
