#include "config/complete.h"

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "base/url.h"
#include "config/encode.h"

namespace ddptrain {
namespace {

/// What becomes of a value that holds no others.
using Leaf = Node (*)(const Node& node, const Shape& shape);

Node as_written(const Node& node, const Shape&) { return node; }

template <class Unit>
Node in_one_spelling(const Node& node) {
  Unit value;
  std::string why;
  if (!parse(node, value, why)) return node;
  auto normal = encode_value(value);
  normal.place = node.place;
  return normal;
}

/// One spelling for each value: 1e-3 is 0.001, '5epochs' is '5 epochs', a path begins at the root.
Node normal_leaf(const Node& node, const Shape& shape) {
  if (!node.is_scalar()) return node;
  Node normal = node;
  switch (shape.kind) {
    case Shape::Kind::integer:
    case Shape::Kind::number:
      if (const auto value = parse_number(node.text)) normal.text = format_number(*value);
      return normal;
    case Shape::Kind::duration:
      return in_one_spelling<Duration>(node);
    case Shape::Kind::size:
      return in_one_spelling<Size>(node);
    case Shape::Kind::share:
      return in_one_spelling<Share>(node);
    case Shape::Kind::text:
      normal.quoted = true;
      if (shape.path && !node.text.empty() && url_scheme(node.text).empty())
        normal.text = std::filesystem::absolute(node.text).lexically_normal().string();
      return normal;
    default:
      return normal;
  }
}

struct Completion {
  const Catalogs& catalogs;
  Leaf leaf;
  Node value(const Node& node, const Shape& shape) const;
  Node component(const Node& node, const std::string& kind) const;
  Node record(const Node& node, const Shape& shape) const;
  void fields(Node& result, const Node& given, const Shape& shape) const;
};

/// The fields of a record or component; keys that the shape does not know follow as written.
void Completion::fields(Node& result, const Node& given, const Shape& shape) const {
  for (const auto& child : shape.children) {
    const Node* written = given.find(child.key);
    result.set(child.key, value(written ? *written : child.initial, child));
  }
  for (const auto& member : given.members)
    if (!result.find(member.key)) result.members.push_back(member);
}

/// Whether a record says no more than its short form: {to: 0.1, from: null} no more than 0.1.
bool is_short(const Node& record, const Shape& shape) {
  if (shape.shorthand.empty()) return false;
  const auto says_nothing = [](const Node& value) {
    return value.is_null() || (value.is_list() && value.items.empty());
  };
  return std::all_of(shape.children.begin(), shape.children.end(), [&](const Shape& child) {
    return child.key == shape.shorthand || says_nothing(*record.find(child.key));
  });
}

Node Completion::record(const Node& node, const Shape& shape) const {
  Node given = node;
  if (!given.is_map()) {
    const bool list = node.is_list() && !shape.list_shorthand.empty();
    given = Node::map({{list ? shape.list_shorthand : shape.shorthand, node.place, node}});
  }
  Node result = Node::map({}, node.place);
  fields(result, given, shape);
  return is_short(result, shape) ? *result.find(shape.shorthand) : result;
}

Node Completion::component(const Node& node, const std::string& kind) const {
  Node given = node;
  if (node.is_scalar()) given = Node::map({{"type", node.place, node}}, node.place);
  const auto catalog = catalogs.find(kind);
  const Node* type = given.find("type");
  if (catalog == catalogs.end() || type == nullptr) return given;
  const auto* entry = catalog->second->find(type->text);
  if (entry == nullptr) return given;
  Node result = Node::map({{"type", type->place, *type}}, given.place);
  fields(result, given, entry->shape());
  return result;
}

Node Completion::value(const Node& node, const Shape& shape) const {
  if (node.is_null()) return node;
  if (is_in_place(node, shape)) return node;
  Node result = node;
  switch (shape.kind) {
    case Shape::Kind::component:
      return component(node, shape.component);
    case Shape::Kind::record:
      return record(node, shape);
    case Shape::Kind::list:
      for (auto& item : result.items) item = value(item, shape.children[0]);
      return result;
    case Shape::Kind::table:
      for (auto& member : result.members) member.value = value(member.value, shape.children[0]);
      return result;
    default:
      return leaf(node, shape);
  }
}

}  // namespace

Node complete_component(const Node& node, const std::string& kind, const Catalogs& catalogs) {
  return Completion{catalogs, as_written}.component(node, kind);
}

Node complete(const Node& node, const Shape& shape, const Catalogs& catalogs) {
  return Completion{catalogs, as_written}.value(node, shape);
}

Node normal(const Node& node, const Shape& shape, const Catalogs& catalogs) {
  return Completion{catalogs, normal_leaf}.value(node, shape);
}

namespace {

bool same(const Node& a, const Node& b, const Shape& shape, const Catalogs& catalogs) {
  return to_yaml(normal(a, shape, catalogs)) == to_yaml(normal(b, shape, catalogs));
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
  if (shape.kind == Shape::Kind::record && node.is_map()) {
    auto kept = fields_without_defaults(node, shape, catalogs);
    const bool is_short = kept.members.size() == 1 && kept.members[0].key == shape.shorthand;
    return is_short ? Node(kept.members[0].value) : kept;
  }
  Node result = node;
  if (shape.kind == Shape::Kind::table)
    for (auto& member : result.members)
      member.value = without_defaults(member.value, shape.children[0], catalogs);
  if (shape.kind == Shape::Kind::list)
    for (auto& item : result.items) item = without_defaults(item, shape.children[0], catalogs);
  return result;
}

}  // namespace ddptrain
