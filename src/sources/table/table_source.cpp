#include "sources/table/table_source.h"

#include <algorithm>

#include "base/error.h"
#include "sources/table/csv_source.h"
#include "sources/table/parquet_source.h"

namespace ddptrain {

std::optional<std::size_t> TableSource::column(std::string_view name) const {
  const auto found = std::find(header().begin(), header().end(), name);
  if (found == header().end()) return {};
  return static_cast<std::size_t>(found - header().begin());
}

void TableSource::fail(std::size_t row, std::size_t column, const std::string& what) const {
  RowErrors errors;
  report(row, column, what, &errors);
  add_places(errors);
  throw Error(Exit::data, errors.at(row));
}

void TableSource::report(std::size_t row, std::size_t column, const std::string& what,
                         RowErrors* errors) const {
  if (!errors) fail(row, column, what);
  errors->emplace(row, "column '" + header()[column] + "': " + what);
}

std::unique_ptr<TableSource> open_table(const std::string& path, const CsvFormat& csv,
                                        const FileSystem& files) {
  auto file = files.map(path);
  const auto bytes = file.bytes();
  const std::string first(bytes.begin(),
                          bytes.begin() + std::min<std::ptrdiff_t>(4, std::ssize(bytes)));
  if (first == "PAR1") return std::make_unique<ParquetSource>(std::move(file));
  return std::make_unique<CsvSource>(std::move(file), csv);
}

}  // namespace ddptrain
