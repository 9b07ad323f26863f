#include "recipe/load.h"

#include <filesystem>

#include "base/text.h"
#include "config/decode.h"
#include "config/shape.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

// Makes every path absolute: relative to the file that wrote it, on the command line to the current
// folder.
class Paths {
 public:
  explicit Paths(const Catalogs& catalogs) : catalogs_(catalogs) {}

  void visit(Node& node, const Shape& shape) {
    if (node.is_scalar() && shape.path) return resolve(node);
    if (shape.kind == Shape::Kind::component) return visit_component(node, shape);
    if (node.is_list() && shape.kind == Shape::Kind::list)
      for (auto& item : node.items) visit_child(item, shape);
    if (!node.is_map()) return;
    if (shape.kind == Shape::Kind::table)
      for (auto& member : node.members) visit_child(member.value, shape);
    if (shape.kind == Shape::Kind::record) visit_fields(node, shape);
  }

 private:
  void visit_child(Node& node, const Shape& shape) { visit(node, shape.children.at(0)); }

  void visit_fields(Node& node, const Shape& shape) {
    for (auto& member : node.members)
      for (const auto& child : shape.children)
        if (child.key == member.key) visit(member.value, child);
  }

  void visit_component(Node& node, const Shape& shape) {
    const auto* type = node.find("type");
    const auto catalog = catalogs_.find(shape.component);
    if (!type || catalog == catalogs_.end()) return;
    if (const auto* entry = catalog->second->find(type->text))
      visit_fields(node, shape_of(entry->fields));
  }

  static void resolve(Node& node) {
    fs::path path = node.text;
    if (path.is_relative() && node.place.file != "command line")
      path = fs::path(node.place.file).parent_path() / path;
    node.text = fs::absolute(path).lexically_normal().string();
    node.quoted = true;
  }

  const Catalogs& catalogs_;
};

}  // namespace

Loaded load_recipe(const std::vector<std::string>& files, const std::vector<std::string>& overrides,
                   const Catalogs& catalogs) {
  auto layered = read_layers(files, overrides);
  Loaded loaded;
  loaded.sources = std::move(layered.sources);
  loaded.problems = std::move(layered.problems);
  loaded.tree = std::move(layered.tree);
  if (has_errors(loaded.problems)) return loaded;
  const auto shape = shape_of<Recipe>();
  loaded.problems = check(loaded.tree, shape, catalogs);
  if (has_errors(loaded.problems)) return loaded;
  Paths(catalogs).visit(loaded.tree, shape);
  loaded.recipe = decode<Recipe>(loaded.tree);
  const auto more = check_rules(loaded.recipe, loaded.tree, catalogs);
  loaded.problems.insert(loaded.problems.end(), more.begin(), more.end());
  return loaded;
}

Place place_of(const Node& tree, const std::string& path) {
  const Node* at = &tree;
  Place place;
  for (const auto& part : split(path, '.')) {
    if (!at->is_map()) return place;
    const auto* next = at->find(part);
    if (!next) return place;
    for (const auto& member : at->members)
      if (member.key == part) place = member.place;
    at = next;
  }
  return place;
}

}  // namespace ddptrain
