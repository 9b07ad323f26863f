#include "recipe/layers/merge.h"

#include <fmt/format.h>

#include <utility>

#include "config/encode.h"
#include "config/yaml/reader.h"
#include "recipe/layers/address.h"
#include "recipe/recipe.h"
#include "recipe/targets.h"

namespace ddptrain {
namespace {

/// A problem with the word itself.
struct BadOverride {
  std::string path;
  std::string message;
};

std::vector<Step> address_of(const std::string& text) {
  auto address = read_address(text);
  if (!address)
    throw BadOverride{"", "'" + text +
                              "' is not a key; write 'optimizer.lr=0.1' or "
                              "'data.transforms.train[0].size=96'"};
  if (address->front().name == "extends")
    throw BadOverride{"extends", "'extends' is written in a recipe file, not on the command line"};
  return *std::move(address);
}

Node* descend(Node& from, const Step& step) {
  return const_cast<Node*>(step.in_list ? find_item(from, step.name)
                                        : std::as_const(from).find(step.name));
}

std::string up_to(const std::vector<Step>& address, std::size_t end) {
  return to_text({address.begin(), address.begin() + static_cast<std::ptrdiff_t>(end)});
}

/// The steps from `first` on as nested maps around the value.
Node wrap(const std::vector<Step>& address, std::size_t first, Node value, const Place& place) {
  for (auto i = address.size(); i-- > first;) {
    if (address[i].in_list)
      throw BadOverride{up_to(address, i),
                        fmt::format("there is no list here to take '[{}]' of", address[i].name)};
    value = Node::map({{address[i].name, place, std::move(value)}}, place);
  }
  return value;
}

/// The address of a list item in which it is named by its position.
std::string item_path(const std::string& list, const Node& items, const Node* item) {
  return fmt::format("{}[{}]", list, item - items.items.data());
}

/// Behind the last list step the rest merges as a layer does.
void assign(Node& tree, const std::vector<Step>& address, Node value, const Place& place,
            std::vector<Dropped>& dropped) {
  Node* at = &tree;
  std::string path;
  std::size_t done = 0;
  for (std::size_t i = 0; i < address.size(); ++i) {
    if (!address[i].in_list) continue;
    for (; done <= i; ++done) {
      const auto& step = address[done];
      const Node* above = at;
      at = descend(*at, step);
      if (!at) throw BadOverride{up_to(address, done), "there is no '" + step.name + "' here"};
      path =
          step.in_list ? item_path(path, *above, at) : path + (path.empty() ? "" : ".") + step.name;
    }
  }
  const bool word = at->is_scalar() && done > 0 && done < address.size();
  if (word) *at = Node::map({{"type", at->place, *at}}, at->place);
  merge(*at, wrap(address, done, std::move(value), place), path, dropped);
}

/// The list that a recipe has by default.
Node default_list(const std::vector<Step>& address) {
  Recipe fresh;
  fresh.metrics = usual_metrics(TargetKind::classes);  // the targets are unknown here
  const auto defaults = encode(fresh);
  const auto* list = find_at(defaults, address);
  if (!list || !list->is_list())
    throw BadOverride{to_text(address), "there is no list here to add to"};
  return *list;
}

void append(Node& tree, const std::vector<Step>& address, Node value, const Place& place,
            std::vector<Dropped>& dropped) {
  const auto* before = find_at(tree, address);
  if (before && before->is_scalar() && before->text == "auto") before = nullptr;
  if (before && !before->is_list())
    throw BadOverride{to_text(address), "'+=' adds to a list, and this is none"};
  Node list = before ? *before : default_list(address);
  if (value.is_list())
    list.items.insert(list.items.end(), value.items.begin(), value.items.end());
  else
    list.items.push_back(std::move(value));
  assign(tree, address, std::move(list), place, dropped);
}

void remove(Node& tree, const std::vector<Step>& address, std::vector<Dropped>& dropped) {
  const auto path = to_text(address);
  const auto settled = std::erase_if(
      dropped, [&](const Dropped& option) { return option.component + "." + option.key == path; });
  Node* parent = &tree;
  for (std::size_t i = 0; parent && i + 1 < address.size(); ++i)
    parent = descend(*parent, address[i]);
  const auto* gone = parent ? descend(*parent, address.back()) : nullptr;
  if (!gone && settled > 0) return;
  if (!gone) throw BadOverride{path, "there is nothing here to remove"};
  if (address.back().in_list) {
    parent->items.erase(parent->items.begin() + (gone - parent->items.data()));
  } else {
    std::erase_if(parent->members, [&](const Member& m) { return m.key == address.back().name; });
  }
}

void apply(Node& tree, const std::string& text, const Place& place, Problems& problems,
           std::vector<Dropped>& dropped) {
  if (text.starts_with('~')) return remove(tree, address_of(text.substr(1)), dropped);
  const auto equals = text.find('=');
  if (equals == std::string::npos)
    throw BadOverride{
        "", fmt::format("'{}' changes nothing; write 'key=value', 'key+=value' or '~key'", text)};
  const bool appends = equals > 0 && text[equals - 1] == '+';
  const auto address = address_of(text.substr(0, appends ? equals - 1 : equals));
  auto read = read_value(text.substr(equals + 1), place);
  if (!read.problems.empty()) {
    for (auto& problem : read.problems) {
      problem.path = to_text(address);
      problem.rule = "override";
      problems.push_back(std::move(problem));
    }
    return;
  }
  if (appends)
    append(tree, address, std::move(read.tree), place, dropped);
  else
    assign(tree, address, std::move(read.tree), place, dropped);
}

}  // namespace

void apply_override(Node& tree, const std::string& text, const Place& place, Problems& problems,
                    std::vector<Dropped>& dropped) {
  try {
    apply(tree, text, place, problems, dropped);
  } catch (const BadOverride& bad) {
    problems.push_back({Severity::error, "override", place, bad.path, bad.message});
  }
}

}  // namespace ddptrain
