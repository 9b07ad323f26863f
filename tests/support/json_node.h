// JSON of a golden case as a recipe fragment.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/node.h"

namespace ddptrain::golden {

inline Node to_node(const nlohmann::json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return Node::scalar(value.get<std::string>());
  if (value.is_array()) {
    std::vector<Node> items;
    for (const auto& item : value) items.push_back(to_node(item));
    return Node::list(std::move(items));
  }
  if (value.is_object()) {
    std::vector<Member> members;
    for (const auto& [key, item] : value.items()) members.push_back({key, {}, to_node(item)});
    return Node::map(std::move(members));
  }
  return Node::scalar(value.dump());
}

}  // namespace ddptrain::golden
