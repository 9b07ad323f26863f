#include "config/catalog.h"

#include <algorithm>

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

Place place_within(const Node& component, const std::string& option) {
  const auto* found = component.find(option.substr(option.rfind('.') + 1));
  return found != nullptr && found->place.known() ? found->place : component.place;
}

std::optional<std::string> trait_argument(const EntryBase& entry, std::string_view trait) {
  const auto start = std::string(trait) + " ";
  for (const auto& each : entry.traits)
    if (each.starts_with(start)) return each.substr(start.size());
  return {};
}

}  // namespace ddptrain
