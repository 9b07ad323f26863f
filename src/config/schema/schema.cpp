#include "config/schema/schema.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "config/option_text.h"
#include "config/scalar.h"
#include "config/schema/schema_constraints.h"

namespace ddptrain {
namespace {

constexpr const char* kReference = "\\$\\{[^}]+\\}";
constexpr const char* kDuration =
    "^(?=.*[1-9])(?!.*\\.[0-9]*[1-9][0-9]* *(steps?|samples?)) *(\\+?[0-9.]+([eE][-+]?[0-9]+)? *"
    "(epochs?|steps?|samples?|%|ms|s|sec|seconds?|min|minutes?|h|hours?|d|days?) *)+$";
constexpr const char* kCountedSteps =
    "^(?=.*[1-9])(?!.*\\.[0-9]*[1-9][0-9]* *steps?) *(\\+?[0-9.]+([eE][-+]?[0-9]+)? *"
    "(epochs?|steps?|%) *)+$";
constexpr const char* kSize = "^ *\\+?[0-9.]+([eE][-+]?[0-9]+)? *(B|[KMGT]iB|kB|[MGT]B) *$";
// At most 100 %, where it has no exponent.
constexpr const char* kShare =
    "^ *\\+?(0*100(\\.0*)?|0*[0-9]{1,2}(\\.[0-9]*)?|\\.[0-9]+|[0-9.]+[eE][-+]?[0-9]+) *% *$";

/// A part of a recipe is layered where a weaker layer may hold what it leaves out. An item of a
/// list is whole: lists replace each other.
enum class Part { layered, whole };

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

/// A component that says no more than its type is a word.
Json default_of(const Shape& shape) {
  const auto* type = shape.initial.find("type");
  const bool word = shape.kind == Shape::Kind::component && shape.initial.members.size() == 1;
  return value_of(word && type ? *type : shape.initial);
}

Json bound(double value) {
  if (std::trunc(value) == value && std::abs(value) < 0x1p53)
    return static_cast<std::int64_t>(value);
  return value;
}

Json pattern(const std::string& of, const std::string& message) {
  return {{"type", "string"}, {"pattern", of}, {"patternErrorMessage", message}};
}

/// An amount with its unit.
Json amount(const std::string& of, const std::string& message) {
  return pattern(of + "|" + kReference, message);
}

/// What every recipe may use.
Json common_definitions() {
  auto share = amount(kShare, "Not a share: write '75 %' or 0.75.");
  share["type"] = {"string", "number"};
  share["minimum"] = 0;
  share["maximum"] = 1;
  auto bare_size = amount(kSize, "Not a size: write '64 MiB', or a number alone.");
  bare_size["type"] = {"string", "number"};
  bare_size["minimum"] = 0;
  return {
      {"reference", pattern(kReference, "Not a reference such as ${env:NAME} or ${seed}.")},
      {"duration",
       amount(kDuration,
              "Not a duration above 0: write '5 epochs', '1000 steps', '30 s' or '75 %'.")},
      {"duration.steps",
       amount(kCountedSteps, "Not a number of steps: write '5 epochs', '1000 steps' or '5 %'.")},
      {"unset", unset_schema()},
      {"size", amount(kSize, "Not a size: write '64 MiB'.")},
      {"size.bare", bare_size},
      {"share", share}};
}

/// A number or switch: as text only auto or a reference, in one schema, because editors explain
/// alternatives badly.
Json bare(const std::string& type, const Shape& shape) {
  Json schema{{"type", {type, "string"}}};
  if (shape.nullable) schema["type"].push_back("null");
  const auto words = words_in_place(shape);
  std::string pattern;
  for (const auto& word : words) pattern += fmt::format("^{}$|", word);
  schema["pattern"] = pattern + std::string(kReference);
  schema["patternErrorMessage"] = (type == "integer" ? "Not an " : "Not a ") + type +
                                  (words.empty() ? "." : "; or write " + join(words, " or ") + ".");
  return schema;
}

/// Without what says nothing of validity.
Json stripped(const Json& schema) {
  if (!schema.is_structured()) return schema;
  Json kept = schema.is_array() ? Json::array() : Json::object();
  for (const auto& [key, value] : schema.items()) {
    if (schema.is_array())
      kept.push_back(stripped(value));
    else if (key != "description" && key != "markdownDescription" && key != "default")
      kept[key] = stripped(value);
  }
  return kept;
}

class SchemaWriter {
 public:
  explicit SchemaWriter(const Catalogs& catalogs) : catalogs_(catalogs) {}

  Json definitions = common_definitions();

  Json properties(const Shape& shape, Part part) {
    Json all = Json::object();
    for (const auto& child : shape.children) {
      all[child.key] = option(child, part);
      if (child.was.empty()) continue;
      all[child.was] = plain(child, part);
      all[child.was]["deprecationMessage"] = fmt::format("'{}' is now '{}'.", child.was, child.key);
      all[child.was]["doNotSuggest"] = true;
    }
    return all;
  }

 private:
  Json option(const Shape& shape, Part part) {
    Json schema = plain(shape, part);
    if (schema.contains("$ref")) schema = Json{{"allOf", {schema}}};
    if (shape.doc.empty()) return schema;
    schema["description"] = shape.doc;
    const bool in_parts = shape.kind == Shape::Kind::record;  // each with a default of its own
    const Json initial = default_of(shape);
    const bool has_default = !shape.required && !(in_parts && !initial.is_null());
    schema["markdownDescription"] = option_markdown(shape, has_default ? json_text(initial) : "");
    if (has_default) schema["default"] = initial;
    return schema;
  }

  Json plain(const Shape& shape, Part part) {
    switch (shape.kind) {
      case Shape::Kind::boolean:
        return number(shape, "boolean");
      case Shape::Kind::integer:
        return number(shape, "integer");
      case Shape::Kind::number:
        return number(shape, "number");
      case Shape::Kind::text:
        return text(shape);
      case Shape::Kind::any:
        return Json::object();
      default:
        return alternatives(shape, part);
    }
  }

  Json number(const Shape& shape, const std::string& type) {
    auto name = type + (shape.nullable ? ".null" : "");
    for (const auto& word : words_in_place(shape)) name += "." + word;
    definitions[name] = bare(type, shape);
    Json schema{{"allOf", {reference_to(name)}}};
    if (std::isfinite(shape.min))
      schema[shape.above_min ? "exclusiveMinimum" : "minimum"] = bound(shape.min);
    if (std::isfinite(shape.max))
      schema[shape.below_max ? "exclusiveMaximum" : "maximum"] = bound(shape.max);
    if (shape.multiple_of != 1) schema["multipleOf"] = shape.multiple_of;
    if (shape.odd) schema["not"] = {{"type", "integer"}, {"multipleOf", 2}};
    return schema;
  }

  static Json text(const Shape& shape) {
    Json schema{{"type", "string"}};
    if (shape.nullable) schema["type"] = {"string", "null"};
    if (shape.min_items > 0) schema["minLength"] = shape.min_items;
    if (shape.form == TextForm::pattern_with_group) schema["pattern"] = "\\(|\\$\\{";
    return schema;
  }

  Json alternatives(const Shape& shape, Part part) {
    // First, because editors explain the first of the alternatives that fit equally badly.
    Json choices = Json::array();
    for (const auto& child : shape.children) {
      const bool stands = child.key == shape.shorthand || child.key == shape.list_shorthand;
      if (stands && shape.kind == Shape::Kind::record && !child.key.empty())
        choices.push_back(plain(child, part));
    }
    const Json own = form(shape, part);
    choices.push_back(own);
    for (const auto& word : words_in_place(shape)) choices.push_back({{"const", word}});
    if (shape.nullable) choices.push_back({{"type", "null"}});
    if (!own.contains("$ref")) choices.push_back(reference_to("reference"));
    return choices.size() == 1 ? choices[0] : Json{{"anyOf", choices}};
  }

  /// What the value may be, before null, auto, references and shorthands.
  Json form(const Shape& shape, Part part) {
    switch (shape.kind) {
      case Shape::Kind::duration:
        return reference_to(shape.in_steps ? "duration.steps" : "duration");
      case Shape::Kind::size:
        return reference_to(shape.unit.empty() ? "size" : "size.bare");
      case Shape::Kind::share:
        return reference_to("share");
      case Shape::Kind::word:
        return {{"enum", shape.words}};
      case Shape::Kind::list:
        return list(shape);
      case Shape::Kind::table:
        return {{"type", "object"}, {"additionalProperties", plain(shape.children[0], part)}};
      case Shape::Kind::component:
        return kind(*catalogs_.find(shape.component)->second, part);
      default:
        return record(shape, part);
    }
  }

  Json record(const Shape& shape, Part part) {
    Json schema{{"type", "object"},
                {"properties", properties(shape, part)},
                {"additionalProperties", false}};
    const auto needed = required_of(shape);
    if (part == Part::whole && !needed.empty()) schema["required"] = needed;
    add_constraints(schema, shape, part);
    return schema;
  }

  static void add_constraints(Json& schema, const Shape& shape, Part part) {
    const auto absent = part == Part::whole ? Absent::defaults : Absent::elsewhere;
    for (auto& constraint : constraint_schemas(shape, absent))
      schema["allOf"].push_back(constraint);
  }

  static Json required_of(const Shape& shape) {
    Json keys = Json::array();
    for (const auto& child : shape.children)
      if (child.required) keys.push_back(child.key);
    return keys;
  }

  Json list(const Shape& shape) {
    Json schema{{"type", "array"}, {"items", plain(shape.children[0], Part::whole)}};
    if (shape.min_items > 0) schema["minItems"] = shape.min_items;
    if (shape.max_items < std::numeric_limits<std::size_t>::max())
      schema["maxItems"] = shape.max_items;
    if (shape.items == ItemOrder::distinct) schema["uniqueItems"] = true;
    if (shape.items == ItemOrder::not_all_zero)
      schema["not"] = {{"minItems", 1}, {"items", {{"const", 0}}}};
    for (const auto length : shape.lengths)
      schema["anyOf"].push_back({{"minItems", length}, {"maxItems", length}});
    return schema;
  }

  // components

  /// A name, or a map with `type`; in a layer also options for the type that a weaker one chose.
  Json kind(const CatalogBase& catalog, Part part) {
    const auto name = catalog.kind() + (part == Part::whole ? ".item" : "");
    if (definitions.contains(name)) return reference_to(name);
    definitions[name] = nullptr;  // a component may hold others of its kind
    define_components(catalog);
    Json word = reference_to(catalog.kind() + ".name");
    if (part == Part::whole) word["$ref"] = fmt::format("#/definitions/{}.bare", catalog.kind());
    definitions[name] = {{"anyOf", {map(catalog, part), word, reference_to("reference")}}};
    return reference_to(name);
  }

  Json map(const CatalogBase& catalog, Part part) {
    Json branches = Json::array();
    for (std::size_t i = 0; i < catalog.size(); ++i) {
      const auto& entry = catalog.at(i);
      Json then = reference_to(catalog.kind() + "." + entry.name);
      if (const auto more = needed_of(entry.shape()); part == Part::whole && !more.empty())
        then = {{"allOf", {then, more}}};
      branches.push_back(
          {{"if", {{"properties", {{"type", {{"const", entry.name}}}}}}}, {"then", then}});
    }
    Json schema{{"type", "object"},
                {"properties", {{"type", reference_to(catalog.kind() + ".name")}}},
                {"if", {{"required", {"type"}}}},
                {"then", {{"allOf", branches}}}};
    if (part == Part::whole)
      schema["required"] = {"type"};
    else
      schema["else"] = some_component(catalog);
    return schema;
  }

  /// What holds of a component that no weaker layer completes.
  static Json needed_of(const Shape& options) {
    Json schema = Json::object();
    if (const auto keys = required_of(options); !keys.empty()) schema["required"] = keys;
    add_constraints(schema, options, Part::whole);
    return schema;
  }

  void define_components(const CatalogBase& catalog) {
    const auto name = catalog.kind() + ".name";
    if (definitions.contains(name)) return;
    definitions[name] = nullptr;
    Json names = Json::array(), sentences = names, bare = names;
    for (std::size_t i = 0; i < catalog.size(); ++i) {
      const auto& entry = catalog.at(i);
      define_component(catalog.kind(), entry);
      names.push_back(entry.name);
      sentences.push_back(entry.doc);
      if (required_of(entry.shape()).empty() && defaults_agree(entry.shape()))
        bare.push_back(entry.name);
    }
    definitions[name] = {{"enum", names}, {"enumDescriptions", sentences}};
    definitions[catalog.kind() + ".bare"] = {{"enum", bare}};
  }

  void define_component(const std::string& kind, const EntryBase& entry) {
    Json all{
        {"type", {{"const", entry.name}, {"markdownDescription", component_link(kind, entry)}}}};
    all.update(properties(entry.shape(), Part::layered));
    definitions[kind + "." + entry.name] = {
        {"description", entry.doc}, {"properties", all}, {"additionalProperties", false}};
    add_constraints(definitions[kind + "." + entry.name], entry.shape(), Part::layered);
  }

  /// Options of whichever component a weaker layer named.
  Json some_component(const CatalogBase& catalog) {
    std::map<std::string, std::map<std::string, Json>> variants;
    for (std::size_t i = 0; i < catalog.size(); ++i) {
      const auto name = catalog.kind() + "." + catalog.at(i).name;
      for (const auto& [key, schema] : definitions[name]["properties"].items())
        if (key != "type")
          variants[key].emplace(json_text(stripped(schema)),
                                reference_to(name + "/properties/" + key));
    }
    Json all = Json::object();
    for (const auto& [key, found] : variants) {
      Json choices = Json::array();
      for (const auto& [text, reference] : found) choices.push_back(reference);
      all[key] = choices.size() == 1 ? choices[0] : Json{{"anyOf", choices}};
    }
    return {{"properties", all}, {"additionalProperties", false}};
  }

  const Catalogs& catalogs_;
};

}  // namespace

std::string json_schema(const Shape& recipe, const Catalogs& catalogs) {
  SchemaWriter writer(catalogs);
  Json properties = writer.properties(recipe, Part::layered);
  properties["extends"] = {
      {"description", "Recipes that this one builds on, weakest first."},
      {"anyOf", {{{"type", "string"}}, {{"type", "array"}, {"items", {{"type", "string"}}}}}}};
  Json schema{{"$schema", "http://json-schema.org/draft-07/schema#"},
              {"type", "object"},
              {"properties", properties},
              {"patternProperties", {{"^x-", Json(true)}}},
              {"additionalProperties", false},
              {"definitions", writer.definitions}};
  share_options(schema);
  return schema_text(schema);
}

}  // namespace ddptrain
