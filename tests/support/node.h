// A recipe fragment written as JSON, so that a test can build what a recipe would get:
//   catalog<Loss>().build(fragment<Loss>({{"type", "mse"}}), LossContext{});
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "config/choice.h"
#include "config/node.h"

namespace ddptrain {

/// Strings become unquoted text, so "5 epochs" and "auto" read as in a recipe.
inline Node to_node(const nlohmann::json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return Node::scalar(value.get<std::string>());
  if (value.is_array()) {
    std::vector<Node> items;
    for (const auto& item : value) items.push_back(to_node(item));
    return Node::list(std::move(items));
  }
  if (!value.is_object()) return Node::scalar(value.dump());
  Node map = Node::map();
  for (const auto& [key, item] : value.items()) map.set(key, to_node(item));
  return map;
}

/// A choice of component, from a map with `type` or from a word.
template <class T>
Choice<T> fragment(const nlohmann::json& value) {
  Choice<T> choice;
  choice.choose(to_node(value));
  return choice;
}

}  // namespace ddptrain
