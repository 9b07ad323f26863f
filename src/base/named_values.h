// Numbers and texts with names, in their order: the metrics of an evaluation.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ddptrain {

using NamedValues = std::vector<std::pair<std::string, double>>;
using NamedTexts = std::vector<std::pair<std::string, std::string>>;

/// NaN where none has this name.
double value_named(const NamedValues& values, std::string_view name);

}  // namespace ddptrain
