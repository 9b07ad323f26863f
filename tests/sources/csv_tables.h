// Tables out of CSV files.
#pragma once

#include "sources/table/csv_source.h"
#include "sources/table/table.h"

namespace ddptrain::test {

inline Table read_csv_table(const TableOptions& options, const std::string& fitted = {},
                            const KnownClasses& classes = {}) {
  return read_table(CsvSource(options.file), options, fitted, classes);
}

inline Table read_unlabeled_csv(const TableOptions& options, const std::string& fitted) {
  return read_unlabeled_table(CsvSource(options.file), options, fitted);
}

}  // namespace ddptrain::test
