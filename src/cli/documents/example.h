// Fragments of recipes that show how a component or an option is written.
#pragma once

#include <string>

#include "config/shape.h"

namespace ddptrain {

/// A value that passes the option's check: its declared example, its default where that says
/// something, otherwise made up from its type.
Node example_value(const Shape& option, const Catalogs& catalogs);

/// YAML of a recipe's part that names the component, with the options that it requires and a few of
/// its defaults: "optimizer: {type: sgd, lr: 0.001}".
std::string example_of(const std::string& kind, const EntryBase& component,
                       const Catalogs& catalogs);

/// YAML of a recipe's part that sets a key to an example.
std::string example_of(const std::string& key, const Shape& option, const Catalogs& catalogs);

/// Where a recipe can name a component of this kind, the shortest key first found:
/// "data.transforms.train". Empty where nothing can.
std::string key_of_kind(const std::string& kind, const Catalogs& catalogs);

}  // namespace ddptrain
