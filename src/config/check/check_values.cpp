// Problems of numbers, switches, texts, amounts and words.
#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "config/check/check_words.h"
#include "config/check/checker.h"
#include "config/check/hints.h"
#include "config/scalar.h"
#include "config/suggest.h"

namespace ddptrain {
namespace {

/// A duration that only time makes sense for: what to write is no number of epochs.
std::string no_time(const Node& node, const std::string& why) {
  std::string unused;
  const auto number = node.is_scalar() ? read_number(node, unused) : std::nullopt;
  if (number)
    return fmt::format("'{}' has no unit; write '{} s' or '{} min'", node.text,
                       format_number(*number), format_number(*number));
  const bool general = why.find("epochs") != std::string::npos;
  return general ? describe(node) + " is not a time; write for example '5 min'" : why;
}

bool size(const Node& node, const std::string& unit, std::string& why) {
  Size ignored;
  return parse(node, ignored, why, unit);
}

template <class T>
bool amount(const Node& node, std::string& why) {
  T ignored;
  return parse(node, ignored, why);
}

/// What a text lacks to be a regular expression, where it has to be one.
std::string pattern_problem(const std::string& text, TextForm form) {
  if (form == TextForm::any) return "";
  const re2::RE2 pattern(text, re2::RE2::Quiet);
  if (!pattern.ok()) return "is not a regular expression: " + pattern.error();
  const bool lacks_group =
      form == TextForm::pattern_with_group && pattern.NumberOfCapturingGroups() == 0;
  return lacks_group ? "has no group ( )" : "";
}

}  // namespace

void Checker::scalar(const Node& node, const Shape& shape, const std::string& path) {
  if (node.is_list() || node.is_map()) return mismatch(node, shape, path);
  std::string why;
  bool fits = true;
  switch (shape.kind) {
    case Shape::Kind::boolean:
      fits = read_boolean(node, why).has_value();
      break;
    case Shape::Kind::integer:
      return number(node, shape, path, read_integer(node, why), why);
    case Shape::Kind::number:
      return number(node, shape, path, read_number(node, why), why);
    case Shape::Kind::text:
      return text(node, shape, path);
    case Shape::Kind::duration:
      return duration(node, shape, path);
    case Shape::Kind::size:
      fits = size(node, shape.unit, why);
      break;
    default:
      fits = amount<Share>(node, why);
      break;
  }
  if (!fits) bad(node, shape, path, why);
}

void Checker::text(const Node& node, const Shape& shape, const std::string& path) {
  std::string why;
  const auto text = read_text(node, why);
  if (!text) return bad(node, shape, path, why);
  if (count_characters(*text) < shape.min_items)
    bad(node, shape, path,
        text->empty() ? "it is empty"
                      : fmt::format("at least {} characters are needed", shape.min_items));
  else if (const auto problem = pattern_problem(*text, shape.form); !problem.empty())
    bad(node, shape, path, fmt::format("'{}' {}", *text, problem));
}

void Checker::duration(const Node& node, const Shape& shape, const std::string& path) {
  std::string why;
  Duration value;
  if (!parse(node, value, why))
    return bad(node, shape, path, shape.unit.empty() ? why : no_time(node, why));
  const bool uncounted =
      value.unit == Duration::Unit::samples || value.unit == Duration::Unit::seconds;
  if (shape.in_steps && uncounted)
    bad(node, shape, path,
        "'" + to_text(value) +
            "' is not a number of steps; write steps, epochs or a share of the run, such as '5 %'");
}

template <class T>
void Checker::number(const Node& node, const Shape& shape, const std::string& path,
                     const std::optional<T>& value, const std::string& why) {
  if (!value) return bad(node, shape, path, why);
  const auto x = static_cast<double>(*value);
  const bool low = shape.above_min ? x <= shape.min : x < shape.min;
  const bool high = shape.below_max ? x >= shape.max : x > shape.max;
  if (low)
    bad(node, shape, path,
        node.text + (shape.above_min ? " is not above " : " is below the minimum ") +
            format_number(shape.min));
  if (high)
    bad(node, shape, path,
        node.text + (shape.below_max ? " is not below " : " is above the maximum ") +
            format_number(shape.max));
  if (shape.odd && std::fmod(x, 2) == 0) bad(node, shape, path, node.text + " is not odd");
  if (shape.multiple_of != 1 && std::fmod(x, static_cast<double>(shape.multiple_of)) != 0)
    bad(node, shape, path, fmt::format("{} is not a multiple of {}", node.text, shape.multiple_of));
}

void Checker::word(const Node& node, const Shape& shape, const std::string& path) {
  if (node.is_list() || node.is_map()) return mismatch(node, shape, path);
  const auto& words = shape.words;
  const bool known =
      node.is_scalar() && std::find(words.begin(), words.end(), node.text) != words.end();
  if (known) return;
  auto near = nearest_names(node.text, words);
  if (const auto ours = foreign_word(node.text, words); !ours.empty()) near = {ours};
  const auto why = why_not_here(node.text, words);
  bad(node, shape, path,
      fmt::format("{} is not one of {}{}", describe(node), join(words, ", "),
                  why.empty() ? did_you_mean(near) : ": " + why),
      only_name(near));
}

}  // namespace ddptrain
