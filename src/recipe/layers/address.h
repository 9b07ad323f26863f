// Dotted addresses of values: "optimizer.lr", "metrics[0].k", "data.transforms.train[resize].size".
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/node.h"

namespace ddptrain {

/// A key of a map, or (`in_list`) an index or type of a list item.
struct Step {
  std::string name;
  bool in_list = false;
};

/// Nothing when the text is not an address.
std::optional<std::vector<Step>> read_address(std::string_view text);
std::string to_text(const std::vector<Step>& address);

/// The item of a list that a step names, by index from 0 or by the `type` of the first that has it.
const Node* find_item(const Node& list, const std::string& name);
/// The value at an address, null where there is none.
const Node* find_at(const Node& tree, const std::vector<Step>& address);

/// The place of a dotted option ("optimizer.lr") in a layered tree. Unknown where a default is
/// used.
Place place_of(const Node& tree, const std::string& path);

/// Does something; an Error about an option, thrown without a place, gets the option's place in the
/// tree.
void with_places(const Node& tree, const std::function<void()>& action);

}  // namespace ddptrain
