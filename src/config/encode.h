// An options struct to a tree: defaults, the resolved recipe.
#pragma once

#include <functional>
#include <string>

#include "config/catalog.h"
#include "config/node.h"
#include "config/units.h"

namespace ddptrain {

/// Every field with its value now. With catalogs, components are completed with their own
/// defaults; without, they are written as chosen.
Node encode(const std::function<void(Fields&)>& fields, const Catalogs* catalogs = nullptr);

template <class Options>
Node encode(Options& options, const Catalogs* catalogs = nullptr) {
  return encode([&](Fields& f) { options.fields(f); }, catalogs);
}

/// One value as a scalar.
Node encode_value(bool v);
Node encode_value(std::int64_t v);
Node encode_value(double v);
Node encode_value(const std::string& v);
Node encode_value(const Duration& v);
Node encode_value(const Size& v);
Node encode_value(const Share& v);

/// Comments behind each line's text, or below each other; then each has its own value's line, and
/// values on one line share it.
enum class Comments { behind, in_column };

/// YAML text that reads back to the same tree; lists of scalars and short maps in flow style. A
/// note becomes a comment at the end of its line.
std::string to_yaml(const Node& tree, Comments comments = Comments::behind);

/// The same on one line, without notes.
std::string to_flow(const Node& tree);

}  // namespace ddptrain
