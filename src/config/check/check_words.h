// Words of the messages about values.
#pragma once

#include <string>
#include <vector>

#include "config/shape.h"

namespace ddptrain {

/// "Where runs go." -> "where runs go", for the end of a message.
std::string as_clause(std::string doc);

/// "an integer", "one of fp32, fp64".
std::string expected(const Shape& shape);

/// What other languages write for nothing.
bool means_null(const Node& node);

/// "type:sgd" -> the text before its colon is one of the keys, as in a map that lacks a space.
bool lacks_space(const std::string& text, const std::vector<std::string>& keys);

/// The only name, empty where there are more or none.
std::string only_name(const std::vector<std::string>& names);

}  // namespace ddptrain
