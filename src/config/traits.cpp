#include "config/traits.h"

#include "config/catalog.h"

namespace ddptrain {

std::optional<std::string> trait_argument(const EntryBase& entry, std::string_view trait) {
  const auto start = std::string(trait) + " ";
  for (const auto& each : entry.traits)
    if (each.starts_with(start)) return each.substr(start.size());
  return {};
}

}  // namespace ddptrain
