#include "config/shape_json.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/error.h"
#include "base/json.h"

namespace ddptrain {
namespace {

constexpr std::array<const char*, 13> kKinds{"boolean", "integer",   "number", "text", "duration",
                                             "size",    "share",     "word",   "list", "table",
                                             "record",  "component", "any"};
constexpr const char* kQuoted = "\"";  // {"\"": "5"} is the text 5

Json to_json(const Node& node) {
  if (node.is_null()) return nullptr;
  if (node.is_scalar()) return node.quoted ? Json{{kQuoted, node.text}} : Json(node.text);
  if (node.is_list()) {
    auto list = Json::array();
    for (const auto& item : node.items) list.push_back(to_json(item));
    return list;
  }
  auto map = Json::object();
  for (const auto& member : node.members) map[member.key] = to_json(member.value);
  return map;
}

Node node_from_json(const Json& json) {
  if (json.is_null()) return {};
  if (json.is_string()) return Node::scalar(json);
  auto node = json.is_array() ? Node::list() : Node::map();
  if (json.is_array()) {
    for (const auto& item : json) node.items.push_back(node_from_json(item));
    return node;
  }
  if (json.size() == 1 && json.contains(kQuoted)) return Node::quoted_text(json.at(kQuoted));
  for (const auto& [key, value] : json.items())
    node.members.push_back({key, {}, node_from_json(value)});
  return node;
}

/// Calls `visit(name, member)` for what a shape holds in plain members.
template <class S, class Visit>
void plain_members(S& shape, Visit&& visit) {
  visit("key", shape.key);
  visit("doc", shape.doc);
  visit("min", shape.min);
  visit("max", shape.max);
  visit("above_min", shape.above_min);
  visit("below_max", shape.below_max);
  visit("required", shape.required);
  visit("path", shape.path);
  visit("address", shape.address);
  visit("unit", shape.unit);
  visit("example", shape.example);
  visit("was", shape.was);
  visit("nullable", shape.nullable);
  visit("automatic", shape.automatic);
  visit("min_items", shape.min_items);
  visit("max_items", shape.max_items);
  visit("lengths", shape.lengths);
  visit("items", shape.items);
  visit("form", shape.form);
  visit("odd", shape.odd);
  visit("multiple_of", shape.multiple_of);
  visit("in_steps", shape.in_steps);
  visit("words", shape.words);
  visit("shorthand", shape.shorthand);
  visit("list_shorthand", shape.list_shorthand);
  visit("component", shape.component);
}

Json to_json(const Constraint& constraint) {
  Json json{{"kind", constraint.kind}};
  for (const auto& [key, test, value] : constraint.of) json["of"].push_back({key, test, value});
  if (std::isfinite(constraint.max)) json["max"] = constraint.max;
  if (constraint.below_max) json["below_max"] = true;
  return json;
}

Constraint constraint_from_json(const Json& json) {
  Constraint constraint;
  json.at("kind").get_to(constraint.kind);
  for (const auto& condition : json.at("of"))
    constraint.of.push_back(
        {condition.at(0), condition.at(1).get<Condition::Test>(), condition.at(2)});
  constraint.max = json.value("max", constraint.max);
  constraint.below_max = json.value("below_max", false);
  return constraint;
}

const Json& fresh_members() {
  static const Json fresh = [] {
    const Shape shape;
    Json json;
    plain_members(shape, [&](const char* name, const auto& member) { json[name] = member; });
    return json;
  }();
  return fresh;
}

}  // namespace

Json to_json(const Shape& shape) {
  Json json{{"kind", kKinds.at(static_cast<std::size_t>(shape.kind))}};
  plain_members(shape, [&](const char* name, const auto& member) {
    if (Json value = member; value != fresh_members().at(name)) json[name] = std::move(value);
  });
  if (!shape.initial.is_null()) json["initial"] = to_json(shape.initial);
  for (const auto& child : shape.children) json["children"].push_back(to_json(child));
  for (const auto& constraint : shape.constraints)
    json["constraints"].push_back(to_json(constraint));
  return json;
}

Shape shape_from_json(const Json& json) {
  Shape shape;
  const auto kind = std::find(kKinds.begin(), kKinds.end(), json.at("kind").get<std::string>());
  DDP_CHECK(kind != kKinds.end(), "a shape of an unknown kind");
  shape.kind = static_cast<Shape::Kind>(kind - kKinds.begin());
  plain_members(shape, [&](const char* name, auto& member) {
    if (const auto found = json.find(name); found != json.end()) found->get_to(member);
  });
  if (const auto found = json.find("initial"); found != json.end())
    shape.initial = node_from_json(*found);
  if (const auto found = json.find("children"); found != json.end())
    for (const auto& child : *found) shape.children.push_back(shape_from_json(child));
  if (const auto found = json.find("constraints"); found != json.end())
    for (const auto& constraint : *found)
      shape.constraints.push_back(constraint_from_json(constraint));
  return shape;
}

}  // namespace ddptrain
