// Problems of a component: its type, and through its catalog its options.
#include <fmt/format.h>

#include "base/text.h"
#include "config/check/check_words.h"
#include "config/check/checker.h"
#include "config/check/hints.h"
#include "config/option_text.h"
#include "config/scalar.h"
#include "config/suggest.h"

namespace ddptrain {
namespace {

constexpr std::size_t kLongestListing = 16;

std::string listing(const CatalogBase& catalog) {
  const auto names = catalog.names();
  if (names.size() > kLongestListing) return "'ddptrain list " + catalog.kind() + "' shows them";
  return "one of " + join(names, ", ");
}

}  // namespace

void Checker::component(const Node& node, const Shape& shape, const std::string& path) {
  const auto& kind = shape.component;
  if (node.is_list()) return mismatch(node, shape, path);
  if (node.is_null())
    return bad(node, shape, path,
               "null is not " + a_component(kind) + "; write {type: ...} with its options");
  const auto catalog = catalogs_.find(kind);
  if (catalog == catalogs_.end()) return;
  const Node* type = node.is_scalar() ? &node : node.find("type");
  if (type == nullptr) return missing_type(node, shape, path, *catalog->second);
  const auto* entry = type->is_scalar() ? catalog->second->find(type->text) : nullptr;
  if (entry == nullptr) return unknown_component(*type, shape, path, *catalog->second);
  auto options = entry->shape();
  options.component = kind;
  const auto empty = Node::map({}, node.place);
  fields(node.is_map() ? node : empty, options, path, entry->name);
}

void Checker::missing_type(const Node& node, const Shape& shape, const std::string& path,
                           const CatalogBase& catalog) {
  for (const auto& member : node.members) {
    if (!is_near("type", name_distance(member.key, "type")) || !member.value.is_scalar()) continue;
    return report("unknown-key", member.place, path,
                  fmt::format("'{}' is not an option of {}; did you mean 'type'?", member.key,
                              a_component(catalog.kind())),
                  "type");
  }
  const auto* usual = shape.initial.find("type");
  report("missing-key", node.place, path,
         "'type' is missing; " +
             (usual ? "write 'type: " + usual->text + "' for the default" : listing(catalog)));
}

void Checker::unknown_component(const Node& type, const Shape& shape, const std::string& path,
                                const CatalogBase& catalog) {
  if (type.is_list() || type.is_map())
    return report("unknown-component", type.place, path,
                  fmt::format("this is {}; the name of {} was expected", describe(type),
                              a_component(catalog.kind())));
  auto meant = meant_components(type.text, catalog.kind(), catalog.names());
  if (meant.names.empty()) meant.names = nearest_names(type.text, catalog.names());
  const auto near = meant_text(meant);
  const auto [kind, name] = of_other_kind(type.text, catalog.kind());
  if (!kind.empty() && name == type.text)
    return report("unknown-component", type.place, path,
                  fmt::format("'{}' is {}, not {}{}", type.text, a_component(kind),
                              a_component(catalog.kind()), near));
  std::string other = near;
  if (near.empty())
    other = "; " + (kind.empty() ? listing(catalog) : fmt::format("it is the {} '{}'", kind, name));
  if (lacks_space(type.text, {"type"})) other = "; a space is missing after the ':'";
  if (shape.nullable && means_null(type)) other = "; write null for none";
  report("unknown-component", type.place, path,
         fmt::format("{} is not {}{}", describe(type), a_component(catalog.kind()), other),
         other == near && meant.says.empty() ? only_name(meant.names) : "");
}

/// The first kind that has a component of this name, or one that another tool calls so.
std::pair<std::string, std::string> Checker::of_other_kind(const std::string& name,
                                                           const std::string& than) const {
  for (const auto& [kind, catalog] : catalogs_)
    if (catalog->find(name)) return {kind, name};
  for (const auto& [kind, catalog] : catalogs_)
    if (const auto meant = meant_components(name, kind, catalog->names());
        kind != than && !meant.names.empty())
      return {kind, meant.names.front()};
  return {};
}

}  // namespace ddptrain
