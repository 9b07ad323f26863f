#include "data/table/table_source.h"

#include <algorithm>

namespace ddptrain {

std::optional<std::size_t> TableSource::column(std::string_view name) const {
  const auto found = std::find(header().begin(), header().end(), name);
  if (found == header().end()) return {};
  return static_cast<std::size_t>(found - header().begin());
}

}  // namespace ddptrain
