// Which rows of a table are held out.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "sources/table/table_options.h"
#include "sources/table/table_source.h"

namespace ddptrain {

/// Rows of train and of valid, from 0 below the header; those of an order of a peer stand in it.
using RowSplits = std::array<std::vector<std::size_t>, 2>;

/// The column that says which split or which group of folds a row is in, and is no input of itself.
/// Unknown ones are Errors (Exit::recipe).
std::optional<std::size_t> split_column(const TableSource& source, const TableOptions& options);

/// Errors: no rule or two of them (Exit::recipe); a row that is not there, a word that names no
/// split, a split without rows, a fold that cannot be (Exit::data). `target` may be of classes.
RowSplits split_rows(const TableSource& source, const TableOptions& options,
                     const ColumnCells& target);

/// A column that a recipe names, or an Error (Exit::recipe) with the nearest name.
std::size_t named_column(const TableSource& source, const std::string& name,
                         const std::string& option);

}  // namespace ddptrain
