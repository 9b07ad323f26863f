// What `validate` says of a component that a recipe names.
#pragma once

#include <string>

#include "config/catalog.h"
#include "config/shape.h"
#include "support/node.h"

namespace ddptrain::test {

/// "option: message" of each problem, a line each; empty where there is none.
template <class T>
std::string refused_tree(const Node& component) {
  Shape shape;
  shape.kind = Shape::Kind::component;
  shape.component = kind_name<T>;
  std::string all;
  for (const auto& problem : check(component, shape, {{kind_name<T>, &catalog<T>()}}))
    all += full_message(problem) + "\n";
  return all;
}

template <class T>
std::string refused(const nlohmann::json& component) {
  return refused_tree<T>(to_node(component));
}

}  // namespace ddptrain::test
