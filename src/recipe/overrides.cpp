#include "recipe/overrides.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/text.h"
#include "config/reader.h"
#include "recipe/merge.h"

namespace ddptrain {
namespace {

/// A step into the tree: a key of a map, or an item of a list by index or type.
struct Segment {
  std::string name;
  bool item = false;
};

struct Parsed {
  std::vector<Segment> path;
  enum class Action { set, append, remove } action = Action::set;
  std::string value;
  int value_column = 1;
};

std::optional<std::vector<Segment>> parse_path(const std::string& text) {
  std::vector<Segment> path;
  for (const auto& part : split(text, '.')) {
    const auto bracket = part.find('[');
    const auto key = part.substr(0, bracket);
    if (key.empty()) return {};
    path.push_back({key, false});
    for (auto at = bracket; at != std::string::npos && at < part.size();) {
      const auto close = part.find(']', at);
      if (part[at] != '[' || close == std::string::npos || close == at + 1) return {};
      path.push_back({part.substr(at + 1, close - at - 1), true});
      at = close + 1;
    }
  }
  return path;
}

std::optional<Parsed> parse_word(const std::string& word) {
  Parsed parsed;
  std::string path = word;
  if (word.starts_with('~')) {
    parsed.action = Parsed::Action::remove;
    path = word.substr(1);
  } else {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0) return {};
    const bool append = word[equals - 1] == '+';
    parsed.action = append ? Parsed::Action::append : Parsed::Action::set;
    path = word.substr(0, append ? equals - 1 : equals);
    parsed.value = word.substr(equals + 1);
    parsed.value_column = static_cast<int>(count_characters(word.substr(0, equals + 1))) + 1;
  }
  auto segments = parse_path(path);
  if (!segments) return {};
  parsed.path = std::move(*segments);
  return parsed;
}

Node* find_item(Node& list, const std::string& name) {
  if (const auto index = parse_integer(name)) {
    const bool inside = *index >= 0 && *index < static_cast<std::int64_t>(list.items.size());
    return inside ? &list.items[static_cast<std::size_t>(*index)] : nullptr;
  }
  const auto found = std::find_if(list.items.begin(), list.items.end(), [&](const Node& item) {
    const auto* type = item.find("type");
    return (type && type->text == name) || (item.is_scalar() && item.text == name);
  });
  if (found == list.items.end()) return nullptr;
  if (found->is_scalar()) *found = Node::map({{"type", found->place, *found}}, found->place);
  return &*found;
}

Node* descend(Node& tree, const std::vector<Segment>& path, std::size_t count) {
  Node* at = &tree;
  for (std::size_t i = 0; i < count && at; ++i) {
    if (path[i].item)
      at = at->is_list() ? find_item(*at, path[i].name) : nullptr;
    else
      at = at->is_map() ? at->find(path[i].name) : nullptr;
  }
  return at;
}

Node nested(const std::vector<Segment>& path, std::size_t first, Node value, const Place& place) {
  for (auto i = path.size(); i-- > first;)
    value = Node::map({{path[i].name, place, std::move(value)}}, place);
  return value;
}

// Keys alone are a layer of their own, so that `optimizer.type=adam` drops what was sgd's.
bool set(Node& tree, const Parsed& parsed, Node value, const Place& place) {
  const auto& path = parsed.path;
  std::size_t first = 0;  // behind the last item of a list
  for (std::size_t i = 0; i < path.size(); ++i)
    if (path[i].item) first = i + 1;
  auto* target = descend(tree, path, first);
  if (!target) return false;
  if (first == 0) {
    merge(*target, nested(path, 0, std::move(value), place));
  } else {
    auto layer = nested(path, first, std::move(value), place);
    if (target->is_map() && layer.is_map())
      merge(*target, std::move(layer));
    else
      *target = std::move(layer);
  }
  return true;
}

bool append(Node& tree, const Parsed& parsed, const Node& value) {
  auto* list = descend(tree, parsed.path, parsed.path.size());
  if (!list || !list->is_list()) return false;
  if (value.is_list())
    list->items.insert(list->items.end(), value.items.begin(), value.items.end());
  else
    list->items.push_back(value);
  return true;
}

bool remove(Node& tree, const Parsed& parsed) {
  auto* parent = descend(tree, parsed.path, parsed.path.size() - 1);
  const auto& last = parsed.path.back();
  if (!parent) return false;
  if (last.item) {
    auto* item = parent->is_list() ? find_item(*parent, last.name) : nullptr;
    if (!item) return false;
    parent->items.erase(parent->items.begin() + (item - parent->items.data()));
    return true;
  }
  if (!parent->is_map()) return false;
  return std::erase_if(parent->members, [&](const Member& m) { return m.key == last.name; }) > 0;
}

std::string missing(const Parsed& parsed) {
  if (parsed.action == Parsed::Action::remove) return "there is nothing of this name to remove";
  if (parsed.action == Parsed::Action::append) return "there is no list of this name to append to";
  return "there is no such item of a list";
}

}  // namespace

void apply_override(Node& tree, const std::string& word, int number, Problems& problems) {
  Place place{"command line", number, 1, static_cast<int>(count_characters(word))};
  const auto parsed = parse_word(word);
  if (!parsed) {
    problems.push_back({Severity::error, "override", place, "",
                        "'" + word + "' is not an override; write key=value, key+=value or ~key"});
    return;
  }
  bool done = false;
  if (parsed->action == Parsed::Action::remove) {
    done = remove(tree, *parsed);
  } else {
    Place value_place = place;
    value_place.column = parsed->value_column;
    auto read = read_value(parsed->value, value_place);
    problems.insert(problems.end(), read.problems.begin(), read.problems.end());
    if (!read.problems.empty()) return;
    done = parsed->action == Parsed::Action::append
               ? append(tree, *parsed, read.tree)
               : set(tree, *parsed, std::move(read.tree), place);
  }
  if (!done)
    problems.push_back(
        {Severity::error, "override", place, "", "'" + word + "': " + missing(*parsed)});
}

}  // namespace ddptrain
