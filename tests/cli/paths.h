// Which keys of a recipe there are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "config/shape.h"
#include "recipe/recipe.h"
#include "train/catalogs.h"

namespace ddptrain::test {

/// The shapes that a path of ours may mean: one, or one for each component that has the key.
inline std::vector<Shape> shapes_at(const Shape& from, const std::vector<std::string>& steps,
                                    std::size_t at = 0) {
  if (from.kind == Shape::Kind::component && at < steps.size()) {
    const auto& catalog = *all_catalogs().at(from.component);
    std::vector<Shape> all;
    for (std::size_t i = 0; i < catalog.size(); ++i)
      for (auto& found : shapes_at(catalog.at(i).shape(), steps, at))
        all.push_back(std::move(found));
    return all;
  }
  if (at == steps.size()) return {from};
  for (const auto& child : from.children)
    if (from.kind == Shape::Kind::record && child.key == steps[at])
      return shapes_at(child, steps, at + 1);
  return {};
}

/// Of "optimizer.lr"; none: there is no such key.
inline std::vector<Shape> shapes_of(std::string_view path) {
  static const auto root = ddptrain::shape_of<Recipe>();
  return shapes_at(root, split(path, '.'));
}

}  // namespace ddptrain::test
