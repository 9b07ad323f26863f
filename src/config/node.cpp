#include "config/node.h"

#include <utility>

namespace ddptrain {

Node Node::scalar(std::string text, Place place) {
  Node node;
  node.kind = Kind::scalar;
  node.text = std::move(text);
  node.place = std::move(place);
  return node;
}

Node Node::quoted_text(std::string text, Place place) {
  Node node = scalar(std::move(text), std::move(place));
  node.quoted = true;
  return node;
}

Node Node::list() { return list({}); }

Node Node::list(std::vector<Node> items, Place place) {
  Node node;
  node.kind = Kind::list;
  node.items = std::move(items);
  node.place = std::move(place);
  return node;
}

Node Node::map() { return map({}); }

Node Node::map(std::vector<Member> members, Place place) {
  Node node;
  node.kind = Kind::map;
  node.members = std::move(members);
  node.place = std::move(place);
  return node;
}

const Node* Node::find(std::string_view key) const {
  for (const auto& member : members)
    if (member.key == key) return &member.value;
  return nullptr;
}

Node* Node::find(std::string_view key) { return const_cast<Node*>(std::as_const(*this).find(key)); }

void Node::set(std::string_view key, Node value, Place key_place) {
  for (auto& member : members) {
    if (member.key != key) continue;
    member.value = std::move(value);
    member.place = std::move(key_place);
    return;
  }
  members.push_back({std::string(key), std::move(key_place), std::move(value)});
}

}  // namespace ddptrain
