// The smallest tables and texts that a model can learn something of, for `test --quick`.
#pragma once

#include <string>

#include "config/node.h"

namespace ddptrain {

/// A CSV file with the columns that a csv_table's options name; the target follows from each of
/// them. Returns its path.
std::string make_rows(const Node& options, const std::string& folder, bool regression);

/// train/ and val/, each with the classes neg and pos: twelve and four files of a sentence or more.
void make_texts(const std::string& folder);

}  // namespace ddptrain
