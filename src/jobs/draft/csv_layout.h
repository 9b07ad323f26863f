// Encoding, separator and header of a CSV file, detected from its contents.
#pragma once

#include <string>

#include "sources/csv/csv_format.h"

namespace ddptrain {

/// Encoding, separator and lines before the header; numbers and names are as by default.
CsvFormat csv_layout(const std::string& path);

}  // namespace ddptrain
