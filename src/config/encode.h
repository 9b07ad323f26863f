// An options struct to a tree: defaults, the resolved recipe.
#pragma once

#include <functional>
#include <string>

#include "config/catalog.h"
#include "config/node.h"

namespace ddptrain {

/// Every field with its value now. With catalogues, components are completed with their own
/// defaults; without, they are written as chosen.
Node encode(const std::function<void(Fields&)>& fields, const Catalogs* catalogs = nullptr);

template <class Options>
Node encode(Options& options, const Catalogs* catalogs = nullptr) {
  return encode([&](Fields& f) { options.fields(f); }, catalogs);
}

/// YAML text that reads back to the same tree; lists of scalars and short maps in flow style. A
/// note becomes a comment at the end of its line.
std::string to_yaml(const Node& tree);

}  // namespace ddptrain
