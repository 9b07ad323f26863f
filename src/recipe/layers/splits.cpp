#include "recipe/layers/splits.h"

#include <vector>

#include "config/encode.h"
#include "recipe/layers/merge.h"

namespace ddptrain {
namespace {

/// What a split takes over from a section.
Node inherited(const Node& data) {
  if (!data.is_map()) return Node::map({{"type", data.place, data}}, data.place);
  Node kept = data;
  std::erase_if(kept.members,
                [](const Member& member) { return is_of_section("data", member.key); });
  return kept;
}

void complete(Node& split, const Node& data) {
  if (!split.is_map()) return;
  auto whole = inherited(data);
  std::vector<Dropped> of_the_other_type;
  merge(whole, split, "data", of_the_other_type);
  split = std::move(whole);
}

/// What a whole split has and `data` has not.
Node difference(const Node& brief, const Node& whole, const Node& data) {
  const auto type = [](const Node& section) {
    const auto* name = section.find("type");
    return name ? name->text : section.text;
  };
  if (type(whole) != type(data)) return brief;
  Node kept = Node::map({}, whole.place);
  for (const auto& member : whole.members) {
    const bool own = is_of_section("data", member.key);
    const auto* other = (own ? brief : data).find(member.key);
    const bool written =
        own ? other != nullptr : !other || to_yaml(*other) != to_yaml(member.value);
    if (written) kept.members.push_back(member);
  }
  return kept;
}

void shorten(Node& split, const Node* whole, const Node& data) {
  if (whole && whole->is_map()) split = difference(split, *whole, data);
}

}  // namespace

void shorten_splits(Node& tree, const Node& completed) {
  auto* eval = tree.find("eval");
  const auto* whole = completed.find("eval");
  const auto* data = completed.find("data");
  if (!eval || !whole || !data) return;
  if (auto* splits = eval->find("splits"))
    for (auto& member : splits->members)
      shorten(member.value, whole->find("splits")->find(member.key), *data);
  if (auto* test = eval->find("test")) shorten(*test, whole->find("test"), *data);
}

void complete_splits(Node& tree) {
  const auto* data = tree.find("data");
  auto* eval = tree.find("eval");
  if (!data || data->is_null() || data->is_list() || !eval) return;
  if (auto* splits = eval->find("splits"))
    for (auto& member : splits->members) complete(member.value, *data);
  if (auto* test = eval->find("test")) complete(*test, *data);
}

}  // namespace ddptrain
