// A table in a file of any format that there is.
#pragma once

#include <memory>
#include <string>

namespace ddptrain {

class TableSource;

/// Parquet where the file begins as one does, otherwise CSV. Errors are those of the source.
std::unique_ptr<TableSource> open_table(const std::string& path);

}  // namespace ddptrain
