#include "config/schema_words.h"

#include <cmath>

#include "base/text.h"

namespace ddptrain {
namespace {

std::string type_words(const Shape& shape);

/// A map, or what stands for one: "number or map".
std::string record_words(const Shape& shape) {
  for (const auto& child : shape.children)
    if (child.key == shape.shorthand) return type_words(child) + " or map";
  return "map";
}

std::string type_words(const Shape& shape) {
  switch (shape.kind) {
    case Shape::Kind::boolean:
      return "true or false";
    case Shape::Kind::integer:
      return "integer";
    case Shape::Kind::number:
      return "number";
    case Shape::Kind::text:
      return shape.path ? "path" : "text";
    case Shape::Kind::duration:
      return "duration such as `5 epochs`";
    case Shape::Kind::size:
      return "size such as `25 MiB`";
    case Shape::Kind::share:
      return "share such as `75 %`";
    case Shape::Kind::word:
      return "`" + join(shape.words, "`, `") + "`";
    case Shape::Kind::list:
      return "list of: " + type_words(shape.children.at(0));
    case Shape::Kind::table:
      return "map to: " + type_words(shape.children.at(0));
    case Shape::Kind::record:
      return record_words(shape);
    case Shape::Kind::component:
      return "one of `ddptrain list " + shape.component + "`";
  }
  return {};
}

std::string range_words(const Shape& shape) {
  std::string text;
  if (std::isfinite(shape.min))
    text += (shape.above_min ? ", above " : ", at least ") + format_number(shape.min);
  if (std::isfinite(shape.max))
    text += (shape.below_max ? ", below " : ", at most ") + format_number(shape.max);
  return text;
}

}  // namespace

std::string option_markdown(const Shape& shape, const std::string& initial) {
  auto text = shape.doc + "\n\n" + type_words(shape) + range_words(shape);
  if (!shape.unit.empty()) text += ", in " + shape.unit;
  if (shape.nullable) text += ", or null";
  if (shape.automatic) text += ", or auto";
  if (shape.required) text += "; required";
  if (!initial.empty()) text += "; default `" + initial + "`";
  if (!shape.example.empty()) text += "; for example `" + shape.example + "`";
  return text;
}

std::string component_link(const std::string& kind, const EntryBase& entry) {
  return "`ddptrain describe " + kind + " " + entry.name + "`";
}

}  // namespace ddptrain
