// Fragments of recipes that break or keep what components declare of their options, made from the
// kind of a constraint and the options' ranges.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "config/shape.h"

namespace ddptrain::test {

/// A record's options, and the fragment of a recipe that holds a map of them.
struct Where {
  std::string name;  // "transform resize, size"
  Shape record;
  Node base;  // what else the record needs
  std::function<Node(Node)> whole;
  std::string path;
};

/// A fragment, and the key at which the problem is; empty: the record's.
struct Example {
  Node map;
  std::string key;
};

/// What a record needs: required options, and the first of options one of which must be given.
Node needed_of(const Shape& record);

/// The map with null for what an option that it writes excludes by default.
Node settled(Node map, const Shape& record);

Example broken(const Where& where, const Constraint& constraint);
Node kept(const Where& where, const Constraint& constraint);

/// A value of one option that its own Spec refuses; nothing where the Spec has only a range.
std::optional<Example> refused(const Where& where, const Shape& option);

}  // namespace ddptrain::test
