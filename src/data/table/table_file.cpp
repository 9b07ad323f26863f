#include "data/table/table_file.h"

#include <algorithm>

#include "data/table/csv_source.h"
#include "data/table/parquet_source.h"

namespace ddptrain {

std::unique_ptr<TableSource> open_table(const std::string& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  const std::string first(bytes.begin(),
                          bytes.begin() + std::min<std::ptrdiff_t>(4, std::ssize(bytes)));
  if (first == "PAR1") return std::make_unique<ParquetSource>(path);
  return std::make_unique<CsvSource>(path);
}

}  // namespace ddptrain
