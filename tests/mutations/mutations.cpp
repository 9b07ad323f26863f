#include "mutations/mutations.h"

#include <algorithm>
#include <cctype>

#include "base/error.h"
#include "base/text.h"

namespace ddptrain::test {

Surgery::Surgery(GoodRecipe recipe, const Shape& shape, const Catalogs& catalogs)
    : recipe_(std::move(recipe)),
      root_(shape),
      catalogs_(catalogs),
      stream_(hash_text("mutations"), hash_text(recipe_.name)) {
  walk(recipe_.tree, &recipe_.layered, &shape, "");
}

std::size_t Surgery::byte(const Place& place) const {
  std::size_t at = 0;
  for (int line = 1; line < place.line; ++line) at = recipe_.text.find('\n', at) + 1;
  return at + static_cast<std::size_t>(place.column - 1);  // shipped recipes are ASCII
}

std::size_t Surgery::line_start(std::size_t at) const {
  return at == 0 ? 0 : text().rfind('\n', at - 1) + 1;
}

std::size_t Surgery::line_end(std::size_t at) const {
  return std::min(text().find('\n', at), text().size());
}

void Surgery::replace(const std::string& kind, std::size_t from, std::size_t size,
                      std::string_view with, std::size_t at, std::vector<std::string> meant) {
  auto changed = text();
  changed.replace(from, size, with);
  const auto before = std::string_view(changed).substr(0, at);
  const auto line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
  const auto start = before.rfind('\n') + 1;
  const auto column = static_cast<int>(count_characters(before.substr(start))) + 1;
  mutants_.push_back({kind, std::move(changed), line, column, std::move(meant)});
}

void Surgery::walk(const Node& node, const Node* layered, const Shape* shape,
                   const std::string& path) {
  if (shape && shape->kind == Shape::Kind::list) {
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const auto* other =
          layered && layered->items.size() == node.items.size() ? &layered->items[i] : nullptr;
      walk(node.items[i], other, &shape->children[0], path + "[]");
    }
    return;
  }
  if (!shape || !node.is_map()) return;
  if (shape->kind == Shape::Kind::record) return members(node, layered, *shape, path, "");
  if (shape->kind != Shape::Kind::component) return;
  const auto* type = layered && layered->is_map() ? layered->find("type") : node.find("type");
  const auto* entry = type ? catalogs_.at(shape->component)->find(type->text) : nullptr;
  DDP_CHECK(entry != nullptr, recipe_.name + " " + path + ": no component");
  shapes_.push_back(std::make_unique<Shape>(entry->shape()));
  shapes_.back()->component = shape->component;
  members(node, layered, *shapes_.back(), path, entry->name);
}

void Surgery::members(const Node& node, const Node* layered, const Shape& fields,
                      const std::string& path, const std::string& component) {
  std::set<std::string> legal, present;
  for (const auto& child : fields.children) legal.insert(child.key);
  if (!component.empty()) legal.insert("type");
  if (path.empty()) legal.insert("extends");
  for (const auto& member : node.members) present.insert(member.key);
  for (const auto& member : node.members) {
    Spot spot;
    spot.key = member.key;
    spot.path = path.empty() ? member.key : path + "." + member.key;
    spot.at = byte(member.place);
    DDP_CHECK(text().compare(spot.at, member.key.size(), member.key) == 0, spot.path);
    spot.value = &member.value;
    if (!member.value.is_null()) spot.value_at = byte(member.value.place);
    if (member.value.is_scalar())
      spot.value_size = static_cast<std::size_t>(member.value.place.width);
    const auto child = std::find_if(fields.children.begin(), fields.children.end(),
                                    [&](const Shape& field) { return field.key == member.key; });
    if (child != fields.children.end()) spot.shape = &*child;
    spot.legal = legal;
    spot.present = present;
    spot.map_at = byte(node.place);
    spot.flow = text()[spot.map_at] == '{';
    spot.first = &member == node.members.data();
    spot.standalone = !recipe_.tree.find("extends");
    spot.component = component;
    spots_.push_back(spot);
    const auto* other = layered && layered->is_map() ? layered->find(member.key) : nullptr;
    if (spot.shape) walk(member.value, other, spot.shape, spot.path);
  }
}

}  // namespace ddptrain::test
