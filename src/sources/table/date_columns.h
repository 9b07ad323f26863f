// The parts of dates as columns of a table.
#pragma once

#include <string>
#include <vector>

#include "sources/table/table_cells.h"

namespace ddptrain {

struct TableFit;

/// Adds the parts of the columns in `options.dates`, behind the others: those of `fit`, or all
/// where it is null. Errors: unknown columns, two columns of one name (Exit::recipe); a cell that
/// is no date (Exit::data), which with `errors` is noted there and missing instead.
void add_date_parts(const TableSource& source, const TableOptions& options, const TableFit* fit,
                    TableCells& cells, RowErrors* errors = nullptr);

/// Takes out the parts that are the same in all of these rows: nothing can be learned from them,
/// and others would become very large numbers.
void drop_constant_parts(TableCells& cells, const std::vector<std::size_t>& rows);

/// Whether a fitted column is a part of one of `options.dates`.
bool is_date_part(const TableOptions& options, const std::string& name);

}  // namespace ddptrain
