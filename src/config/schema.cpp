#include "config/schema.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "config/scalar.h"

namespace ddptrain {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kDuration =
    "^ *(\\+?[0-9.]+([eE][-+]?[0-9]+)? *"
    "(epochs?|steps?|samples?|%|ms|s|sec|seconds?|min|minutes?|h|hours?|d|days?) *)+$";
constexpr const char* kSize = "^ *\\+?[0-9.]+([eE][-+]?[0-9]+)? *(B|[KMGT]iB|kB|[MGT]B) *$";
constexpr const char* kShare = "^ *\\+?[0-9.]+([eE][-+]?[0-9]+)? *% *$";

Json value_of(const Node& node) {
  if (node.is_null()) return nullptr;
  if (node.is_list()) {
    Json list = Json::array();
    for (const auto& item : node.items) list.push_back(value_of(item));
    return list;
  }
  if (node.is_map()) {
    Json map = Json::object();
    for (const auto& member : node.members) map[member.key] = value_of(member.value);
    return map;
  }
  const auto kind = scalar_kind(node);
  if (kind == ScalarKind::boolean) return node.text == "true";
  if (kind == ScalarKind::text) return node.text;
  if (const auto whole = parse_integer(node.text)) return *whole;
  return *parse_number(node.text);
}

Json bound(double value) {
  if (std::trunc(value) == value && std::abs(value) < 0x1p53)
    return static_cast<std::int64_t>(value);
  return value;
}

Json number(const Shape& shape, const char* type) {
  Json schema{{"type", type}};
  if (std::isfinite(shape.min))
    schema[shape.above_min ? "exclusiveMinimum" : "minimum"] = bound(shape.min);
  if (std::isfinite(shape.max))
    schema[shape.below_max ? "exclusiveMaximum" : "maximum"] = bound(shape.max);
  return schema;
}

Json text(const char* pattern) { return {{"type", "string"}, {"pattern", pattern}}; }
Json reference_to(const std::string& name) { return {{"$ref", "#/definitions/" + name}}; }

Json schema_of(const Shape& shape);

Json properties_of(const Shape& shape) {
  Json properties = Json::object();
  for (const auto& child : shape.children) properties[child.key] = schema_of(child);
  return properties;
}

Json record(const Shape& shape) {
  return {
      {"type", "object"}, {"properties", properties_of(shape)}, {"additionalProperties", false}};
}

Json list(const Shape& shape) {
  Json schema{{"type", "array"}, {"items", schema_of(shape.children[0])}};
  if (shape.min_items > 0) schema["minItems"] = shape.min_items;
  if (shape.max_items < std::numeric_limits<std::size_t>::max())
    schema["maxItems"] = shape.max_items;
  return schema;
}

/// What the value may be by itself, before null, auto, references and shorthands.
Json plain_schema(const Shape& shape) {
  switch (shape.kind) {
    case Shape::Kind::boolean:
      return {{"type", "boolean"}};
    case Shape::Kind::integer:
      return number(shape, "integer");
    case Shape::Kind::number:
      return number(shape, "number");
    case Shape::Kind::text:
      return {{"type", "string"}};
    case Shape::Kind::duration:
      return text(kDuration);
    case Shape::Kind::size:
      return text(kSize);
    case Shape::Kind::share:
      return {{"anyOf", {text(kShare), {{"type", "number"}, {"minimum", 0}, {"maximum", 1}}}}};
    case Shape::Kind::word:
      return {{"enum", shape.words}};
    case Shape::Kind::list:
      return list(shape);
    case Shape::Kind::table:
      return {{"type", "object"}, {"additionalProperties", schema_of(shape.children[0])}};
    case Shape::Kind::record:
      return record(shape);
    case Shape::Kind::component:
      return reference_to(shape.component);
  }
  return {};
}

void add_shorthands(const Shape& shape, Json& choices) {
  for (const auto& child : shape.children) {
    const bool stands = child.key == shape.shorthand || child.key == shape.list_shorthand;
    if (stands && shape.kind == Shape::Kind::record && !child.key.empty())
      choices.push_back(schema_of(child));
  }
}

Json schema_of(const Shape& shape) {
  Json choices = Json::array({plain_schema(shape)});
  add_shorthands(shape, choices);
  if (shape.nullable) choices.push_back({{"type", "null"}});
  if (shape.automatic) choices.push_back({{"const", "auto"}});
  const bool takes_text = shape.kind == Shape::Kind::text;
  const bool container = shape.kind == Shape::Kind::record || shape.kind == Shape::Kind::table ||
                         shape.kind == Shape::Kind::list || shape.kind == Shape::Kind::component;
  if (!takes_text && !container) choices.push_back(reference_to("reference"));
  Json schema =
      choices.size() == 1 && !choices[0].contains("$ref") ? choices[0] : Json{{"anyOf", choices}};
  if (!shape.doc.empty()) schema["description"] = shape.doc;
  if (!shape.required && !shape.key.empty()) schema["default"] = value_of(shape.initial);
  return schema;
}

Json component_schema(const EntryBase& entry) {
  const auto shape = entry.shape();
  Json properties{{"type", {{"const", entry.name}}}};
  for (const auto& child : shape.children) properties[child.key] = schema_of(child);
  return {{"type", "object"},
          {"description", entry.doc},
          {"properties", properties},
          {"required", {"type"}},
          {"additionalProperties", false}};
}

/// A name, a map with `type`, or options for the type that a weaker layer chose.
void define_kind(const CatalogBase& catalog, Json& definitions) {
  Json choices = Json::array({{{"enum", catalog.names()}}});
  for (std::size_t i = 0; i < catalog.size(); ++i) {
    const auto name = catalog.kind() + "." + catalog.at(i).name;
    definitions[name] = component_schema(catalog.at(i));
    choices.push_back(reference_to(name));
  }
  choices.push_back({{"type", "object"}, {"not", {{"required", {"type"}}}}});
  definitions[catalog.kind()] = {{"anyOf", choices}};
}

}  // namespace

std::string json_schema(const Shape& recipe, const Catalogs& catalogs) {
  Json properties = properties_of(recipe);
  properties["extends"] = {
      {"description", "Recipes that this one builds on, weakest first."},
      {"anyOf", {{{"type", "string"}}, {{"type", "array"}, {"items", {{"type", "string"}}}}}}};
  Json definitions{{"reference", {{"type", "string"}, {"pattern", "\\$\\{[^}]+\\}"}}}};
  for (const auto& [kind, catalog] : catalogs) define_kind(*catalog, definitions);
  const Json schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
                    {"title", "A ddptrain recipe"},
                    {"type", "object"},
                    {"properties", properties},
                    {"patternProperties", {{"^x-", Json(true)}}},
                    {"additionalProperties", false},
                    {"definitions", definitions}};
  return schema.dump(1) + "\n";
}

}  // namespace ddptrain
