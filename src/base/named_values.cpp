#include "base/named_values.h"

#include <algorithm>
#include <limits>

namespace ddptrain {

double value_named(const NamedValues& values, std::string_view name) {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const auto& value) { return value.first == name; });
  return found == values.end() ? std::numeric_limits<double>::quiet_NaN() : found->second;
}

}  // namespace ddptrain
