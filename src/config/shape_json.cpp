#include "config/shape_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <unordered_map>

#include "base/error.h"

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

/// Calls `visit(name, pointer to member)` for what a shape holds in plain members.
template <class Visit>
void plain_members(Visit&& visit) {
  visit("key", &Shape::key);
  visit("doc", &Shape::doc);
  visit("min", &Shape::min);
  visit("max", &Shape::max);
  visit("above_min", &Shape::above_min);
  visit("below_max", &Shape::below_max);
  visit("required", &Shape::required);
  visit("path", &Shape::path);
  visit("address", &Shape::address);
  visit("unit", &Shape::unit);
  visit("example", &Shape::example);
  visit("was", &Shape::was);
  visit("nullable", &Shape::nullable);
  visit("automatic", &Shape::automatic);
  visit("min_items", &Shape::min_items);
  visit("max_items", &Shape::max_items);
  visit("lengths", &Shape::lengths);
  visit("items", &Shape::items);
  visit("form", &Shape::form);
  visit("odd", &Shape::odd);
  visit("multiple_of", &Shape::multiple_of);
  visit("in_steps", &Shape::in_steps);
  visit("words", &Shape::words);
  visit("shorthand", &Shape::shorthand);
  visit("list_shorthand", &Shape::list_shorthand);
  visit("component", &Shape::component);
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
    plain_members([&](const char* name, auto member) { json[name] = shape.*member; });
    return json;
  }();
  return fresh;
}

using Reader = std::function<void(Shape&, const Json&)>;

/// By the member's name, so that a shape is read in one pass over what it says.
const std::unordered_map<std::string, Reader>& member_readers() {
  static const auto readers = [] {
    std::unordered_map<std::string, Reader> by_name;
    plain_members([&](const char* name, auto member) {
      by_name[name] = [member](Shape& shape, const Json& json) { json.get_to(shape.*member); };
    });
    by_name["initial"] = [](Shape& shape, const Json& json) {
      shape.initial = node_from_json(json);
    };
    by_name["children"] = [](Shape& shape, const Json& json) {
      shape.children.reserve(json.size());
      for (const auto& child : json) shape.children.push_back(shape_from_json(child));
    };
    by_name["constraints"] = [](Shape& shape, const Json& json) {
      for (const auto& constraint : json)
        shape.constraints.push_back(constraint_from_json(constraint));
    };
    return by_name;
  }();
  return readers;
}

}  // namespace

Json to_json(const Shape& shape) {
  Json json{{"kind", kKinds.at(static_cast<std::size_t>(shape.kind))}};
  plain_members([&](const char* name, auto member) {
    if (Json value = shape.*member; value != fresh_members().at(name))
      json[name] = std::move(value);
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
  const auto& readers = member_readers();
  for (const auto& [name, value] : json.items())
    if (const auto reader = readers.find(name); reader != readers.end())
      reader->second(shape, value);
  return shape;
}

}  // namespace ddptrain
