#include "config/schema/schema_constraints.h"

#include <algorithm>

#include "base/text.h"
#include "config/scalar.h"

namespace ddptrain {
namespace {

using Test = Condition::Test;
using Kind = Constraint::Kind;

Json no(Json schema) { return {{"not", std::move(schema)}}; }

/// Some values are known later alone: they pass as what they may be, and count as nothing else.
Json or_later(Json schema) {
  return {{"anyOf", {std::move(schema), reference_to("reference"), {{"const", "auto"}}}}};
}

Json constant(const std::string& text) {
  const auto value = Node::scalar(text);
  const auto kind = scalar_kind(value);
  if (kind == ScalarKind::boolean) return {{"const", text == "true"}};
  if (kind == ScalarKind::number) return {{"const", *parse_number(text)}};
  return {{"const", text}};
}

/// Values for which a condition surely holds.
Json sure(const Condition& condition) {
  switch (condition.test) {
    case Test::set:
      return no(or_later(reference_to("unset")));
    case Test::unset:
      return reference_to("unset");
    case Test::is:
      return constant(condition.value);
    case Test::is_not:
      return no(or_later(constant(condition.value)));
    case Test::multiple_of:
      break;
  }
  return {{"type", "integer"}, {"multipleOf", *parse_integer(condition.value)}};
}

/// Values for which it may hold.
Json possible(const Condition& condition) {
  switch (condition.test) {
    case Test::set:
      return no(reference_to("unset"));
    case Test::unset:
      return or_later(reference_to("unset"));
    case Test::is:
      return or_later(constant(condition.value));
    case Test::is_not:
      return no(constant(condition.value));
    case Test::multiple_of:
      break;
  }
  return {{"multipleOf", *parse_integer(condition.value)}};
}

bool within_another(const Condition& condition) {
  return condition.key.find_first_of(".[") != std::string::npos;
}

class Writer {
 public:
  Writer(const Shape& record, Absent absent) : record_(record), absent_(absent) {}

  /// Objects in which a condition surely holds.
  Json surely(const Condition& condition) const {
    Json schema{{"properties", {{condition.key, sure(condition)}}}};
    if (!by_default(condition)) schema["required"] = {condition.key};
    return schema;
  }

  /// Objects in which it may hold.
  Json possibly(const Condition& condition) const {
    Json schema{{"properties", {{condition.key, possible(condition)}}}};
    if (absent_ == Absent::defaults && !by_default(condition)) schema["required"] = {condition.key};
    return schema;
  }

  /// Of an exactly_one what is written replaces a default.
  void exclusive(Json& schemas, const Constraint& constraint) const {
    const auto& options = constraint.of;
    const bool replaces = constraint.kind == Kind::exactly_one;
    const auto given = [&](const Condition& option) {
      auto schema = surely(option);
      if (replaces) schema["required"] = {option.key};
      return schema;
    };
    for (std::size_t i = 0; i < options.size(); ++i)
      for (std::size_t j = i + 1; j < options.size(); ++j)
        schemas.push_back(no({{"allOf", {given(options[i]), given(options[j])}}}));
  }

  Json one_at_least(const std::vector<Condition>& options) const {
    Json choices = Json::array();
    for (const auto& option : options) choices.push_back(possibly(option));
    return {{"anyOf", choices}};
  }

 private:
  bool by_default(const Condition& condition) const {
    const auto found = option_value(Node::map(), record_, condition.key);
    return absent_ == Absent::defaults && holds(condition, *found.value);
  }

  const Shape& record_;
  Absent absent_;
};

}  // namespace

Json reference_to(const std::string& name) { return {{"$ref", "#/definitions/" + name}}; }

Json constraint_schemas(const Shape& record, Absent absent) {
  const Writer writer(record, absent);
  Json schemas = Json::array();
  for (const auto& constraint : record.constraints) {
    const auto& of = constraint.of;
    if (std::any_of(of.begin(), of.end(), within_another)) continue;
    if (constraint.kind == Kind::needs)
      schemas.push_back({{"if", writer.surely(of[0])}, {"then", writer.possibly(of[1])}});
    if (constraint.kind == Kind::always) schemas.push_back(writer.possibly(of[0]));
    if (constraint.kind == Kind::exactly_one || constraint.kind == Kind::not_both)
      writer.exclusive(schemas, constraint);
    if (constraint.kind == Kind::exactly_one && absent == Absent::defaults)
      schemas.push_back(writer.one_at_least(of));
  }
  return schemas;
}

Json unset_schema() {
  return {{"anyOf",
           {{{"enum", {nullptr, false, 0, ""}}},
            {{"type", {"array", "object"}}, {"maxItems", 0}, {"maxProperties", 0}}}}};
}

}  // namespace ddptrain
