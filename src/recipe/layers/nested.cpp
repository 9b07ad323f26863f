#include "recipe/layers/nested.h"

#include <fmt/format.h>

#include "config/shape.h"
#include "recipe/layers/option.h"

namespace ddptrain {
namespace {

class Walk {
 public:
  explicit Walk(const Catalogs& catalogs) : catalogs_(catalogs) {}

  std::vector<NestedChoice> found;
  std::vector<WrittenPath> paths;

  void component(const ChoiceBase& choice, const std::string& path) {
    found.push_back({choice, path});
    const auto catalog = catalogs_.find(choice.kind());
    const auto* entry = catalog == catalogs_.end() ? nullptr : catalog->second->find(choice.type());
    if (entry) members(choice.node(), entry->shape(), path);
  }

  void members(const Node& map, const Shape& shape, const std::string& path) {
    for (const auto& child : shape.children) {
      const auto* written = map.find(child.key);
      value(written ? *written : child.initial, child,
            path.empty() ? child.key : path + "." + child.key);
    }
  }

 private:
  void value(const Node& node, const Shape& shape, const std::string& path) {
    if (node.is_null()) return;
    switch (shape.kind) {
      case Shape::Kind::component:
        return chosen(node, shape, path);
      case Shape::Kind::record:
        return record(node, shape, path);
      case Shape::Kind::list:
        for (std::size_t i = 0; i < node.items.size(); ++i)
          value(node.items[i], shape.children[0], fmt::format("{}[{}]", path, i));
        return;
      case Shape::Kind::table:
        for (const auto& [key, place, row] : node.members)
          value(row, shape.children[0], path + "." + key);
        return;
      default:
        if (shape.path) paths.push_back({node.text, path, shape.address});
        return;
    }
  }

  /// A map, or a value that stands for one of its options.
  void record(const Node& node, const Shape& shape, const std::string& path) {
    if (node.is_map()) return members(node, shape, path);
    for (const auto& child : shape.children)
      if (node.is_scalar() && child.key == shape.shorthand) value(node, child, path);
  }

  void chosen(const Node& node, const Shape& shape, const std::string& path) {
    const bool automatic = shape.automatic && node.is_scalar() && node.text == "auto";
    const bool partial = node.is_map() && node.find("type") == nullptr;  // of a split
    if (node.is_list() || automatic || partial) return;
    ChoiceBase choice(shape.component);
    choice.choose(node);
    component(choice, path);
  }

  const Catalogs& catalogs_;
};

}  // namespace

std::vector<NestedChoice> with_nested(const ChoiceBase& choice, const std::string& path,
                                      const Catalogs& catalogs) {
  Walk walk(catalogs);
  if (choice.chosen()) walk.component(choice, path);
  return walk.found;
}

std::vector<NestedChoice> all_choices(const Node& tree, const Catalogs& catalogs) {
  Walk walk(catalogs);
  walk.members(tree, recipe_shape(), "");
  return walk.found;
}

std::vector<WrittenPath> all_paths(const Node& tree, const Catalogs& catalogs) {
  Walk walk(catalogs);
  walk.members(tree, recipe_shape(), "");
  return walk.paths;
}

}  // namespace ddptrain
