// The columns of a table by what they are for, as they stand in the file.
#pragma once

#include <string>
#include <vector>

#include "sources/csv/csv_columns.h"
#include "sources/table/table_options.h"

namespace ddptrain {

struct TableFit;
class TableSource;

struct TableColumn {
  std::string name;
  std::size_t index = 0;  // in the file
  ColumnCells cells;
  bool date_part = false;  // made of a column of dates
};

struct TableCells {
  std::vector<TableColumn> categories;
  std::vector<TableColumn> continuous;
  std::vector<TableColumn> targets;  // of one that is not listed no cell is missing
};

/// The columns that the options choose, and then the parts of dates. Unknown ones are Errors
/// (Exit::recipe); a cell that is not a number, a missing target that is not listed are Errors
/// (Exit::data) that name file, line and column.
TableCells read_cells(const TableSource& source, const TableOptions& options);

/// The columns that were fitted. One that is not there is an Error (Exit::data).
TableCells read_cells(const TableSource& source, const TableOptions& options, const TableFit& fit);

/// The same without the target. Cells that are wrong are noted in `errors`.
TableCells read_inputs(const TableSource& source, const TableOptions& options, const TableFit& fit,
                       RowErrors& errors);

}  // namespace ddptrain
