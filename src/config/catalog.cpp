#include "config/catalog.h"

#include <algorithm>

#include "base/error.h"
#include "config/shape.h"

namespace ddptrain {

LazyShape::LazyShape(std::function<Shape()> make) : make_(std::move(make)) {}
LazyShape::~LazyShape() = default;

const Shape& LazyShape::get() const {
  std::call_once(once_, [this] { shape_ = std::make_unique<const Shape>(make_()); });
  return *shape_;
}

std::shared_ptr<const LazyShape> lazy_shape(std::function<void(Fields&)> fields) {
  return std::make_shared<const LazyShape>(
      [fields = std::move(fields)] { return shape_of(fields); });
}

bool EntryBase::has(std::string_view trait) const {
  return std::find(traits.begin(), traits.end(), trait) != traits.end();
}

const EntryBase* CatalogBase::find(std::string_view name) const {
  for (std::size_t i = 0; i < size(); ++i)
    if (at(i).name == name) return &at(i);
  return nullptr;
}

std::vector<std::string> CatalogBase::names() const {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < size(); ++i) all.push_back(at(i).name);
  return all;
}

void CatalogBase::require_new(const std::string& name) const {
  if (find(name))
    throw Error(Exit::recipe,
                "there is a {} '{}' already; a plug-in gives its components names of their own",
                kind(), name);
}

namespace {

/// What follows the first dot, if there is one.
std::string after_dot(const std::string& path) {
  const auto dot = path.find('.');
  return dot == std::string::npos ? "" : path.substr(dot + 1);
}

/// The value at a dotted path in a map of maps.
const Node* find_below(const Node& map, const std::string& path) {
  const auto* found = map.find(path.substr(0, path.find('.')));
  const auto rest = after_dot(path);
  return found == nullptr || rest.empty() ? found : find_below(*found, rest);
}

}  // namespace

Place place_within(const Node& component, const std::string& option) {
  for (auto rest = option; !rest.empty(); rest = after_dot(rest)) {
    const auto* found = find_below(component, rest);
    if (found != nullptr && found->place.known()) return found->place;
  }
  return component.place;
}

std::optional<std::string> trait_argument(const EntryBase& entry, std::string_view trait) {
  const auto start = std::string(trait) + " ";
  for (const auto& each : entry.traits)
    if (each.starts_with(start)) return each.substr(start.size());
  return {};
}

}  // namespace ddptrain
