#include "config/complete.h"

#include <algorithm>

#include "config/encode.h"

namespace ddptrain {
namespace {

/// The fields of a record or component; keys that the shape does not know follow as written.
void complete_fields(Node& result, const Node& given, const Shape& shape,
                     const Catalogs& catalogs) {
  for (const auto& child : shape.children) {
    const Node* value = given.find(child.key);
    result.set(child.key, complete(value ? *value : child.initial, child, catalogs));
  }
  for (const auto& member : given.members)
    if (!result.find(member.key)) result.members.push_back(member);
}

/// Whether a record says no more than its short form: {to: 0.1, from: null} no more than 0.1.
bool is_short(const Node& record, const Shape& shape) {
  if (shape.shorthand.empty()) return false;
  return std::all_of(shape.children.begin(), shape.children.end(), [&](const Shape& child) {
    return child.key == shape.shorthand || record.find(child.key)->is_null();
  });
}

Node complete_record(const Node& node, const Shape& shape, const Catalogs& catalogs) {
  Node given = node;
  if (!given.is_map()) {
    const bool list = node.is_list() && !shape.list_shorthand.empty();
    given = Node::map({{list ? shape.list_shorthand : shape.shorthand, node.place, node}});
  }
  Node result = Node::map({}, node.place);
  complete_fields(result, given, shape, catalogs);
  return is_short(result, shape) ? *result.find(shape.shorthand) : result;
}

}  // namespace

Node complete_component(const Node& node, const std::string& kind, const Catalogs& catalogs) {
  Node given = node;
  if (node.is_scalar()) given = Node::map({{"type", node.place, node}}, node.place);
  const auto catalog = catalogs.find(kind);
  const Node* type = given.find("type");
  if (catalog == catalogs.end() || type == nullptr) return given;
  const auto* entry = catalog->second->find(type->text);
  if (entry == nullptr) return given;
  Node result = Node::map({{"type", type->place, *type}}, given.place);
  complete_fields(result, given, entry->shape(), catalogs);
  return result;
}

Node complete(const Node& node, const Shape& shape, const Catalogs& catalogs) {
  if (node.is_null()) return node;
  if (shape.automatic && node.is_scalar() && node.text == "auto") return node;
  Node result = node;
  switch (shape.kind) {
    case Shape::Kind::component:
      return complete_component(node, shape.component, catalogs);
    case Shape::Kind::record:
      return complete_record(node, shape, catalogs);
    case Shape::Kind::list:
      for (auto& item : result.items) item = complete(item, shape.children[0], catalogs);
      return result;
    case Shape::Kind::table:
      for (auto& member : result.members)
        member.value = complete(member.value, shape.children[0], catalogs);
      return result;
    default:
      return result;
  }
}

namespace {

bool same(const Node& a, const Node& b, const Shape& shape, const Catalogs& catalogs) {
  return to_yaml(complete(a, shape, catalogs)) == to_yaml(complete(b, shape, catalogs));
}

Node fields_without_defaults(const Node& node, const Shape& shape, const Catalogs& catalogs) {
  Node kept = Node::map({}, node.place);
  for (const auto& member : node.members) {
    const auto child = std::find_if(shape.children.begin(), shape.children.end(),
                                    [&](const Shape& field) { return field.key == member.key; });
    if (child == shape.children.end())
      kept.members.push_back(member);
    else if (child->required || !same(member.value, child->initial, *child, catalogs))
      kept.set(member.key, without_defaults(member.value, *child, catalogs), member.place);
  }
  return kept;
}

Node component_without_defaults(const Node& node, const std::string& kind,
                                const Catalogs& catalogs) {
  const auto catalog = catalogs.find(kind);
  const Node* type = node.find("type");
  if (catalog == catalogs.end() || !type) return node;
  const auto* entry = catalog->second->find(type->text);
  if (!entry) return node;
  const auto kept = fields_without_defaults(node, entry->shape(), catalogs);
  return kept.members.size() == 1 ? *type : kept;
}

}  // namespace

Node without_defaults(const Node& node, const Shape& shape, const Catalogs& catalogs) {
  if (shape.kind == Shape::Kind::component)
    return component_without_defaults(node, shape.component, catalogs);
  if (shape.kind == Shape::Kind::record && node.is_map())
    return fields_without_defaults(node, shape, catalogs);
  Node result = node;
  if (shape.kind == Shape::Kind::list)
    for (auto& item : result.items) item = without_defaults(item, shape.children[0], catalogs);
  return result;
}

}  // namespace ddptrain
