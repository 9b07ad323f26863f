#include "config/option_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/text.h"
#include "config/complete.h"
#include "config/encode.h"

namespace ddptrain {
namespace {

/// The option that a value which is no map stands for.
const Shape* short_form(const Shape& record) {
  const auto found =
      std::find_if(record.children.begin(), record.children.end(), [&](const Shape& child) {
        return !record.shorthand.empty() && child.key == record.shorthand;
      });
  return found == record.children.end() ? nullptr : &*found;
}

std::string text_type(const Shape& text) {
  if (text.form == TextForm::pattern) return "regular expression";
  if (text.form == TextForm::pattern_with_group) return "regular expression with a group ( )";
  if (text.address != AddressUse::none) return "path or address";
  return text.path ? "path" : "text";
}

std::string duration_type(const Shape& duration) {
  return duration.in_steps ? "duration, such as 5 epochs, 1000 steps, 75 %"
                           : "duration, such as 5 epochs, 1000 steps, 30 s, 75 %";
}

std::string plain_type(const Shape& shape);

std::string collection_type(const Shape& shape) {
  const auto* of = shape.kind == Shape::Kind::list ? "list of: " : "map to: ";
  return of + plain_type(shape.children.at(0));
}

std::string record_type(const Shape& record) {
  const auto* stands = short_form(record);
  return stands ? type_text(*stands) + ", or map" : "map";
}

std::string plain_type(const Shape& shape) {
  switch (shape.kind) {
    case Shape::Kind::boolean:
      return "true or false";
    case Shape::Kind::integer:
      return "integer";
    case Shape::Kind::number:
      return "number";
    case Shape::Kind::text:
      return text_type(shape);
    case Shape::Kind::duration:
      return duration_type(shape);
    case Shape::Kind::size:
      return "size, such as 25 MiB";
    case Shape::Kind::share:
      return "share, such as 75 %";
    case Shape::Kind::word:
      return join(shape.words, " | ");
    case Shape::Kind::list:
    case Shape::Kind::table:
      return collection_type(shape);
    case Shape::Kind::record:
      return record_type(shape);
    case Shape::Kind::component:
      return a_component(shape.component);
    case Shape::Kind::any:
      break;
  }
  return "any value";
}

std::string items_text(const Shape& list) {
  std::string text;
  for (std::size_t i = 0; i < list.lengths.size(); ++i)
    text += (i > 0 ? " or " : ", ") + std::to_string(list.lengths[i]);
  if (!text.empty()) text += " items";
  if (list.items == ItemOrder::ascending) text += ", none below the one before";
  if (list.items == ItemOrder::increasing) text += ", each above the one before";
  if (list.items == ItemOrder::distinct) text += ", none twice";
  if (list.items == ItemOrder::not_all_zero) text += ", not all 0";
  return text;
}

std::string range_text(const Shape& shape) {
  std::string text;
  if (shape.odd) text += ", odd";
  if (shape.multiple_of != 1) text += fmt::format(", a multiple of {}", shape.multiple_of);
  if (std::isfinite(shape.min))
    text += (shape.above_min ? ", above " : ", at least ") + format_number(shape.min);
  if (std::isfinite(shape.max))
    text += (shape.below_max ? ", below " : ", at most ") + format_number(shape.max);
  return text;
}

}  // namespace

std::string a_component(const std::string& kind) {
  if (kind == "data") return "a dataset";
  const bool vowel = std::string_view("aeiou").find(kind.front()) != std::string_view::npos;
  return (vowel ? "an " : "a ") + kind;
}

std::string type_text(const Shape& shape) {
  auto text = plain_type(shape);
  if (!shape.unit.empty()) text += fmt::format(" ({})", shape.unit);
  text += range_text(shape) + items_text(shape);
  if (shape.nullable) text += ", or null";
  for (const auto& word : words_in_place(shape)) text += ", or " + word;
  return text;
}

std::string default_text(const Shape& shape) {
  if (shape.required) return "required";
  const auto initial = complete(shape.initial, shape, {});
  const bool told_by_each = shape.kind == Shape::Kind::record && initial.is_map();
  return told_by_each ? "" : "default " + to_flow(initial);
}

std::vector<std::string> constraint_texts(const Shape& record) {
  std::vector<std::string> texts;
  for (const auto& constraint : record.constraints) {
    auto text = sentence(constraint, record);
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    texts.push_back(text + ".");
  }
  return texts;
}

std::string option_markdown(const Shape& shape, const std::string& initial) {
  auto text = shape.doc + "\n\n" + type_text(shape);
  if (shape.required) text += "; required";
  if (!initial.empty()) text += fmt::format("; default `{}`", initial);
  if (!shape.example.empty()) text += fmt::format("; for example `{}`", shape.example);
  return text;
}

std::string component_link(const std::string& kind, const EntryBase& entry) {
  return fmt::format("`ddptrain describe {} {}`", kind, entry.name);
}

}  // namespace ddptrain
