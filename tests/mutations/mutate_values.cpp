// Values of a wrong type, range, unit or name.
#include <cmath>

#include "base/text.h"
#include "mutations/mutations.h"

namespace ddptrain::test {
namespace {

using Kind = Shape::Kind;

void instead(Surgery& surgery, const std::string& kind, const Spot& spot, const std::string& wrong,
             std::vector<std::string> meant = {}) {
  surgery.replace(kind, spot.value_at, spot.value_size, wrong, spot.value_at, std::move(meant));
}

void wrong_type(Surgery& surgery, const Spot& spot) {
  const std::string kind = "wrong type";
  switch (spot.shape->kind) {
    case Kind::boolean:
      instead(surgery, kind, spot, "yes");
      return instead(surgery, kind, spot, "1");
    case Kind::integer:
      instead(surgery, kind, spot, "2.5");
      instead(surgery, kind, spot, "\"2\"", {});
      instead(surgery, kind, spot, "[1, 2]");
      instead(surgery, kind, spot, "1_000");
      return instead(surgery, kind, spot, "010");
    case Kind::number:
      instead(surgery, kind, spot, "fast");
      instead(surgery, kind, spot, "0x10");
      instead(surgery, kind, spot, ".inf");
      return instead(surgery, kind, spot, "{a: 1}");
    case Kind::text:
      instead(surgery, kind, spot, "12");
      return instead(surgery, kind, spot, "[a]");
    case Kind::word:
      return instead(surgery, kind, spot, "[" + spot.value->text + "]");
    case Kind::component:
      return instead(surgery, kind, spot, "[" + spot.value->text + "]");
    default:
      return;
  }
}

void wrong_range(Surgery& surgery, const Spot& spot) {
  const auto& shape = *spot.shape;
  if (shape.kind != Kind::integer && shape.kind != Kind::number) return;
  const auto below = shape.above_min ? shape.min : shape.min - 1;
  const auto above = shape.below_max ? shape.max : shape.max + 1;
  if (std::isfinite(shape.min)) instead(surgery, "wrong range", spot, format_number(below));
  if (std::isfinite(shape.max)) instead(surgery, "wrong range", spot, format_number(above));
}

void wrong_unit(Surgery& surgery, const Spot& spot) {
  const std::string kind = "wrong unit";
  if (spot.shape->kind == Kind::duration) {
    instead(surgery, kind, spot, "5");
    instead(surgery, kind, spot, "5 epocs", {"epochs"});
    instead(surgery, kind, spot, "5 parsecs");
    instead(surgery, kind, spot, "0 steps");
    instead(surgery, kind, spot, "2.5 steps");
    instead(surgery, kind, spot, "-1 epochs");
  } else if (spot.shape->kind == Kind::share) {
    instead(surgery, kind, spot, "150 %");
    instead(surgery, kind, spot, "75");
  } else if (spot.shape->kind == Kind::size) {
    instead(surgery, kind, spot, "25");
    instead(surgery, kind, spot, "25 MBs");
  }
}

/// A letter more in a word of a closed set.
void wrong_word(Surgery& surgery, const Spot& spot) {
  const auto& word = spot.value->text;
  auto doubled = word;
  doubled.insert(surgery.draw(word.size()), 1, 'q');
  if (spot.key == "type" || spot.shape->kind == Kind::component)
    instead(surgery, "misspelled component", spot, doubled, {word});
  else if (spot.shape->kind == Kind::word)
    instead(surgery, "misspelled word", spot, doubled, {word});
}

void list_or_map(Surgery& surgery, const Spot& spot) {
  if (spot.flow || !spot.value_at) return;
  const auto& text = surgery.text();
  const bool brackets = text[spot.value_at] == '[' || text[spot.value_at] == '{';
  if (!brackets) return;
  const auto size = surgery.line_end(spot.value_at) - spot.value_at;
  const auto whole = text.substr(spot.value_at, size);
  if (whole.back() != ']' && whole.back() != '}') return;
  const auto wrong = [&](const std::string& value) {
    surgery.replace("wrong type", spot.value_at, size, value, spot.value_at);
  };
  if (spot.shape->kind == Kind::list) return wrong("{a: 1}");
  wrong("[1, 2]");
  if (spot.shape->shorthand.empty()) wrong("12.5");
}

}  // namespace

void mutate_values(Surgery& surgery) {
  for (const auto& spot : surgery.spots()) {
    const bool is_type = spot.key == "type" && !spot.component.empty();
    if (!spot.shape && !is_type) continue;
    const bool outside = spot.value->is_scalar() &&
                         (spot.value->text == "auto" || spot.value->text.starts_with("${"));
    if (!spot.value->is_scalar()) {
      if (spot.shape) list_or_map(surgery, spot);
      continue;
    }
    if (is_type) {
      wrong_word(surgery, spot);
      continue;
    }
    wrong_type(surgery, spot);
    wrong_range(surgery, spot);
    wrong_unit(surgery, spot);
    if (!outside) wrong_word(surgery, spot);
  }
}

}  // namespace ddptrain::test
