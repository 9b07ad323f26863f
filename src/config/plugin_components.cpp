#include "config/plugin_components.h"

#include <set>

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {
namespace {

/// "momentum" of itself; "named ..." of "named top_{k}", whose argument a component chooses.
std::string without_argument(const std::string& trait) {
  const auto blank = trait.find(' ');
  return blank == std::string::npos ? trait : trait.substr(0, blank) + " ...";
}

std::set<std::string> known_traits(const CatalogBase& catalog) {
  std::set<std::string> known;
  for (std::size_t i = 0; i < catalog.size(); ++i)
    for (const auto& trait : catalog.at(i).traits) known.insert(without_argument(trait));
  return known;
}

}  // namespace

void require_known_traits(const EntryBase& added, const CatalogBase& catalog) {
  const auto known = known_traits(catalog);
  const std::vector<std::string> names(known.begin(), known.end());
  for (const auto& trait : added.traits)
    if (!known.contains(without_argument(trait)))
      throw Error(Exit::recipe, "there is no trait '{}', which the {} '{}' has; this kind has {}",
                  shown(trait), catalog.kind(), added.name,
                  names.empty() ? "none" : join(names, ", "));
}

}  // namespace ddptrain
