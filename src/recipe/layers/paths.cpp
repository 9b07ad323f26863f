#include "recipe/layers/paths.h"

#include <filesystem>

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

void anchor(Node& node) {
  if (!node.is_scalar() || node.text.empty() || fs::path(node.text).is_absolute()) return;
  const auto base = node.place.file == "command line" ? fs::path() : fs::path(node.place.file);
  node.text = fs::absolute(base.parent_path() / node.text).lexically_normal().string();
  node.quoted = true;
}

void fields(Node& node, const Shape& shape, const Catalogs& catalogs) {
  for (const auto& child : shape.children)
    if (Node* value = node.find(child.key)) make_paths_absolute(*value, child, catalogs);
}

void component(Node& node, const std::string& kind, const Catalogs& catalogs) {
  const auto catalog = catalogs.find(kind);
  const Node* type = node.find("type");
  if (catalog == catalogs.end() || !type) return;
  if (const auto* entry = catalog->second->find(type->text)) fields(node, entry->shape(), catalogs);
}

}  // namespace

void make_paths_absolute(Node& tree, const Shape& shape, const Catalogs& catalogs) {
  switch (shape.kind) {
    case Shape::Kind::record:
      if (tree.is_map()) return fields(tree, shape, catalogs);
      for (const auto& child : shape.children)
        if (child.key == shape.shorthand) make_paths_absolute(tree, child, catalogs);
      return;
    case Shape::Kind::component:
      return component(tree, shape.component, catalogs);
    case Shape::Kind::list:
      for (auto& item : tree.items) make_paths_absolute(item, shape.children[0], catalogs);
      return;
    case Shape::Kind::table:
      for (auto& member : tree.members)
        make_paths_absolute(member.value, shape.children[0], catalogs);
      return;
    default:
      if (shape.path) anchor(tree);
  }
}

}  // namespace ddptrain
