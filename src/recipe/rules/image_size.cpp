// Sizes of images from values and traits: "gives_size", "resizes", "changes_size".
#include <algorithm>

#include "base/text.h"
#include "recipe/rules/transforms.h"

namespace ddptrain {
namespace {

/// `size: 64`, `size: [48, 80]`, or the map that either stands for.
std::vector<double> numbers_of(const Node* value) {
  if (value && value->is_map()) {
    const auto* sides = value->find("sides");
    value = sides && !sides->items.empty() ? sides : value->find("side");
  }
  std::vector<double> numbers;
  for (const auto* item : items_of(value))
    if (const auto number = number_of(item)) numbers.push_back(*number);
  return numbers;
}

}  // namespace

std::vector<Choice<Transform>> transforms_of(const RuleContext& rule, std::string_view split) {
  const auto* lists = rule.value(rule.recipe.data, "transforms");
  const auto* list = lists && lists->is_map() ? lists->find(split) : nullptr;
  std::vector<Choice<Transform>> all;
  for (const auto* item : items_of(list)) all.push_back(choice_of<Transform>(*item));
  return all;
}

bool WrittenSize::holds(const Sides& window) const {
  if (sides) return window.height <= sides->height && window.width <= sides->width;
  return !shorter || std::min(window.height, window.width) <= *shorter;
}

std::string WrittenSize::text() const {
  if (sides) return format_number(sides->height) + " x " + format_number(sides->width) + " pixels";
  return shorter ? format_number(*shorter) + " pixels along the shorter side" : "of any size";
}

std::optional<Sides> size_given(const RuleContext& rule, const Choice<Transform>& transform) {
  const auto numbers = numbers_of(rule.value(transform, "size"));
  const bool whole =
      rule.has(transform, "gives_size") || (rule.has(transform, "resizes") && numbers.size() == 2);
  if (!whole || numbers.empty()) return {};
  return Sides{numbers.front(), numbers.back()};
}

WrittenSize size_after(const RuleContext& rule, const Choice<Transform>& transform,
                       const WrittenSize& before) {
  if (const auto given = size_given(rule, transform)) return {given, {}};
  if (rule.has(transform, "changes_size") || is_true(rule.value(transform, "expand"))) return {};
  if (!rule.has(transform, "resizes")) return before;
  if (rule.value(transform, "max_size")) return {};
  const auto numbers = numbers_of(rule.value(transform, "size"));
  if (numbers.empty()) return {};
  return {{}, numbers.front()};
}

WrittenSize size_of(const RuleContext& rule, const std::vector<Choice<Transform>>& list) {
  WrittenSize size;
  for (const auto& transform : list) size = size_after(rule, transform, size);
  return size;
}

bool is_augmented(const RuleContext& rule) {
  const auto list = transforms_of(rule, "train");
  return std::any_of(list.begin(), list.end(), [&](const auto& transform) {
    return rule.has(transform, "random") || text_of(rule.value(transform, "at")) == "random";
  });
}

}  // namespace ddptrain
