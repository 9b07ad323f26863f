// The network and its training that `init` writes for a table.
#pragma once

#include <string>

namespace ddptrain {

struct Table;

/// The lines of a recipe from `model` on, around those of `data`; chosen by the training rows.
std::string training_lines(const Table& table, const std::string& data);

}  // namespace ddptrain
