// A written tree with every default filled in.
#pragma once

#include <string>

#include "config/shape.h"

namespace ddptrain {

/// Shorthands spelled out, absent keys with their defaults, components with theirs, at any depth.
/// The tree has passed check().
Node complete(const Node& node, const Shape& shape, const Catalogs& catalogs);
/// The same with one spelling for each value, so that two trees that mean the same are equal:
/// 1e-3 is 0.001, '5epochs' is '5 epochs', paths are absolute.
Node normal(const Node& node, const Shape& shape, const Catalogs& catalogs);
/// What a checked tree says beyond the defaults.
Node without_defaults(const Node& node, const Shape& shape, const Catalogs& catalogs);
Node complete_component(const Node& node, const std::string& kind, const Catalogs& catalogs);

}  // namespace ddptrain
