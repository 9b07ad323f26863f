// What is fitted on the training rows of a table, as fastai.tabular.core does: Categorify,
// FillMissing and Normalize.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sources/table/table_cells.h"
#include "sources/table/table_split.h"

namespace ddptrain {

/// A column of names as numbers: classes[0], "#na#", stands for values that are missing or
/// unseen in training. `missing_of` names (perhaps by an empty text) the column of numbers whose
/// missing cells this column marks.
struct CategoryColumn {
  std::string name;
  std::vector<std::string> classes;
  std::optional<std::string> missing_of;
};

/// Cells become (cell - mean) / deviation (divisor N, plus 1e-7) after missing ones became `fill`.
struct ContinuousColumn {
  std::string name;
  std::optional<double> fill;  // where training rows lack some
  double mean = 0;
  double deviation = 1;
};

struct TableFit {
  std::vector<CategoryColumn> categories;
  std::vector<ContinuousColumn> continuous;
  std::vector<std::string> target_classes;  // empty: a regression
};

/// Errors (Exit::data): a column of numbers, a target too, that has none in any training row.
TableFit fit_table(const TableCells& cells, const RowSplits& splits, const TableOptions& options);

/// To JSON text, together with the options that it was fitted with, and back. Reading is an Error
/// (Exit::recipe) where these options, or columns that the recipe names, are no longer the same.
std::string to_json(const TableFit& fit, const TableOptions& options);
TableFit fit_from_json(const std::string& text, const TableOptions& options);

/// The columns of names of to_json's text.
std::vector<CategoryColumn> fitted_categories(const std::string& text);

}  // namespace ddptrain
