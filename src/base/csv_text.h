// A cell of a CSV file (RFC 4180).
#pragma once

#include <string>

namespace ddptrain {

/// In quotes where it holds a comma, a quote or an end of line.
std::string csv_cell(const std::string& text);

}  // namespace ddptrain
