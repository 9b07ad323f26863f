#include "recipe/layers/option.h"

#include <algorithm>

#include "base/text.h"
#include "recipe/recipe.h"

namespace ddptrain {
namespace {

std::string component_type(const Node& node) {
  const auto* type = node.is_scalar() ? &node : node.find("type");
  return type ? type->text : "";
}

const Shape* child_of(const Shape& shape, const std::string& key) {
  const auto found = std::find_if(shape.children.begin(), shape.children.end(),
                                  [&](const Shape& child) { return child.key == key; });
  return found == shape.children.end() ? nullptr : &*found;
}

/// One step into a value; `node` is the value, null where it is not known.
const Shape* step_into(const Shape& shape, const Step& step, const Node* node,
                       const Catalogs& catalogs) {
  if (shape.kind == Shape::Kind::list) return step.in_list ? &shape.children[0] : nullptr;
  if (step.in_list) return nullptr;
  if (shape.kind == Shape::Kind::table) return &shape.children[0];
  if (shape.kind != Shape::Kind::component) return child_of(shape, step.name);
  const auto catalog = catalogs.find(shape.component);
  const auto* entry =
      node && catalog != catalogs.end() ? catalog->second->find(component_type(*node)) : nullptr;
  return entry ? child_of(entry->shape(), step.name) : nullptr;
}

void collect(const Node& node, const std::string& path, std::vector<std::string>& all) {
  if (!path.empty()) all.push_back(path);
  for (const auto& member : node.members)
    collect(member.value, path.empty() ? member.key : path + "." + member.key, all);
  const auto names = item_names(node);
  for (std::size_t i = 0; i < names.size(); ++i)
    collect(node.items[i], path + "[" + names[i] + "]", all);
}

std::string last_word(const std::string& key) { return key.substr(key.rfind('.') + 1); }

}  // namespace

const Shape& recipe_shape() {
  static const Shape shape = shape_of<Recipe>();
  return shape;
}

const Shape* find_option(const std::vector<Step>& address, const Node& tree,
                         const Catalogs& catalogs) {
  const Shape* shape = &recipe_shape();
  const Node* node = &tree;
  for (const auto& step : address) {
    shape = step_into(*shape, step, node, catalogs);
    if (!shape) return nullptr;
    if (node) node = step.in_list ? find_item(*node, step.name) : node->find(step.name);
  }
  return shape;
}

const Shape& meant_by_scalar(const Shape& option) {
  if (option.kind != Shape::Kind::record || option.shorthand.empty()) return option;
  for (const auto& child : option.children)
    if (child.key == option.shorthand) return meant_by_scalar(child);
  return option;
}

std::vector<std::string> addresses_of(const Node& tree) {
  std::vector<std::string> all;
  collect(tree, "", all);
  return all;
}

std::string nearest_key(const std::string& key, const std::vector<std::string>& keys) {
  const auto word = last_word(key);
  for (const auto& candidate : keys)
    if (last_word(candidate) == word) return candidate;
  return nearest(key, keys);
}

std::vector<std::string> item_names(const Node& list) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const auto type = list.items[i].is_map() ? component_type(list.items[i]) : "";
    const auto same = std::count_if(list.items.begin(), list.items.end(), [&](const Node& other) {
      return component_type(other) == type;
    });
    names.push_back(type.empty() || same > 1 ? std::to_string(i) : type);
  }
  return names;
}

}  // namespace ddptrain
