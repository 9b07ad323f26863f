#include "config/catalog.h"

#include <algorithm>

namespace ddptrain {

bool EntryBase::has(std::string_view trait) const {
  return std::find(traits.begin(), traits.end(), trait) != traits.end();
}

const EntryBase* CatalogBase::find(std::string_view name) const {
  for (std::size_t i = 0; i < size(); ++i)
    if (at(i).name == name) return &at(i);
  return nullptr;
}

std::vector<std::string> CatalogBase::names() const {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < size(); ++i) all.push_back(at(i).name);
  return all;
}

}  // namespace ddptrain
