// Rows of a table as samples: codes of categories and normalized numbers.
#pragma once

#include <memory>

#include "data/dataset.h"
#include "sources/table/table_options.h"
#include "sources/table/table_source.h"

namespace ddptrain {

/// Inputs are codes [rows, category columns] and numbers [rows, continuous columns]; either may
/// have no columns. Targets are classes int64 [rows] or numbers float32 [rows], of several columns
/// [rows, columns]. The training and validation rows of `options.file`, or, where
/// `context.unlabeled` names a file, all its rows without targets; a warning or a line counts rows
/// with names that no training row has. `chosen` is what Dataset::chosen returns. Errors are those
/// of read_table (sources/table/table.h).
std::unique_ptr<Dataset> make_table_dataset(TableOptions options, const OpenTable& open,
                                            const DataContext& context, Node chosen = Node::map());

}  // namespace ddptrain
