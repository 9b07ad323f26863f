// The transforms that a recipe lists, and what they make of an image's size.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recipe/rules/rule_context.h"

namespace ddptrain {

/// Those of `data.transforms`, "train" or "valid"; none where the data has no such list.
std::vector<Choice<Transform>> transforms_of(const RuleContext& rule, std::string_view split);

/// Height and width in pixels.
struct Sides {
  double height = 0;
  double width = 0;
  bool operator==(const Sides&) const = default;
};

/// What is known of the size of images: all of it, the shorter side, or nothing.
struct WrittenSize {
  std::optional<Sides> sides;
  std::optional<double> shorter;
  /// Whether a window fits, as far as is known.
  bool holds(const Sides& window) const;
  std::string text() const;  // "64 x 80 pixels"
};

/// The size that a transform gives whatever comes in; nothing where it depends on that.
std::optional<Sides> size_given(const RuleContext& rule, const Choice<Transform>& transform);
WrittenSize size_after(const RuleContext& rule, const Choice<Transform>& transform,
                       const WrittenSize& before);
/// Of what comes out of a list.
WrittenSize size_of(const RuleContext& rule, const std::vector<Choice<Transform>>& list);

/// Whether a pass over the training samples is never the same twice.
bool is_augmented(const RuleContext& rule);

}  // namespace ddptrain
