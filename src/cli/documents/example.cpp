#include "cli/documents/example.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "config/complete.h"
#include "config/encode.h"
#include "config/yaml/reader.h"
#include "recipe/layers/option.h"

namespace ddptrain {
namespace {

constexpr std::size_t kOptionsShown = 3;

/// A key on the way to a value; `type` is that of the component that it belongs to, where no other
/// of its kind has such a key.
struct Hop {
  std::string key;
  std::string type;
  bool list = false;                     // what follows is an item of the key's list
  const CatalogBase* catalog = nullptr;  // of the component
  const EntryBase* component = nullptr;
};
using Way = std::vector<Hop>;

bool has_option(const EntryBase& component, const std::string& key) {
  const auto& options = component.shape().children;
  return std::any_of(options.begin(), options.end(),
                     [&](const Shape& option) { return option.key == key; });
}

/// The name of the component that has such an option alone, otherwise nothing.
std::string only_holder(const CatalogBase& catalog, const EntryBase& component,
                        const std::string& key) {
  for (std::size_t i = 0; i < catalog.size(); ++i)
    if (catalog.at(i).name != component.name && has_option(catalog.at(i), key)) return "";
  return component.name;
}

/// Looks for the shortest way to a component of one kind; components nest in components. Ever
/// longer ways are tried, so that components which cannot be on the way are not read.
class Search {
 public:
  Search(std::string kind, const Catalogs& catalogs)
      : kind_(std::move(kind)), catalogs_(catalogs) {}

  Way shortest() {
    for (longest_ = 1; best_.empty() && longest_ <= kDeepest; ++longest_) into(recipe_shape(), {});
    for (auto& hop : best_)
      if (hop.component) hop.type = only_holder(*hop.catalog, *hop.component, hop.key);
    return best_;
  }

 private:
  static constexpr std::size_t kDeepest = 16;  // keys

  void into(const Shape& shape, const Way& way) {
    if (!best_.empty()) return;
    if (shape.kind == Shape::Kind::component && shape.component == kind_) best_ = way;
    if (way.size() == longest_ || !best_.empty()) return;
    if (shape.kind == Shape::Kind::record)
      for (const auto& child : shape.children) key(child, way);
    if (shape.kind == Shape::Kind::component) component(shape.component, way);
  }

  void key(const Shape& shape, Way way, const CatalogBase* catalog = nullptr,
           const EntryBase* component = nullptr) {
    const bool list = shape.kind == Shape::Kind::list;
    way.push_back({shape.key, "", list, catalog, component});
    into(list ? shape.children[0] : shape, way);
  }

  void component(const std::string& kind, const Way& way) {
    const auto catalog = catalogs_.find(kind);
    if (catalog == catalogs_.end() || !entered_.insert(kind).second) return;
    for (std::size_t i = 0; i < catalog->second->size(); ++i) {
      const auto& entry = catalog->second->at(i);
      for (const auto& option : entry.shape().children) key(option, way, catalog->second, &entry);
    }
    entered_.erase(kind);
  }

  std::string kind_;
  const Catalogs& catalogs_;
  std::set<std::string> entered_;
  std::size_t longest_ = 0;
  Way best_;
};

/// The value as it stands in a recipe.
Node at_the_end_of(const Way& way, Node value) {
  for (auto hop = way.rbegin(); hop != way.rend(); ++hop) {
    if (hop->list) value = Node::list({std::move(value)});
    Node map = Node::map();
    if (!hop->type.empty()) map.set("type", Node::scalar(hop->type));
    map.set(hop->key, std::move(value));
    value = std::move(map);
  }
  return value;
}

bool says_something(const Node& value) {
  constexpr std::size_t longest = 40;
  if (value.is_list())
    return !value.items.empty() && to_flow(value).size() <= longest &&
           std::all_of(value.items.begin(), value.items.end(),
                       [](const Node& item) { return item.is_scalar(); });
  return value.is_scalar() && !value.text.empty() && value.text != "auto";
}

Node made_up_number(const Shape& option) {
  const double low = option.above_min ? option.min + 1 : option.min;
  const auto least = static_cast<double>(option.multiple_of);
  const double value = std::clamp(least, low, std::max(low, option.max));
  return Node::scalar(format_number(
      option.below_max && value >= option.max ? (option.min + option.max) / 2 : value));
}

Node made_up_list(const Shape& option, const Catalogs& catalogs) {
  auto list = Node::list();
  const auto& lengths = option.lengths;
  const auto length = std::find_if(lengths.begin(), lengths.end(), [](auto n) { return n > 0; });
  const auto least = std::max<std::size_t>(option.min_items, 1);
  auto item = option.children[0];
  while (list.items.size() < (length == lengths.end() ? least : *length)) {
    list.items.push_back(example_value(item, catalogs));
    if (option.items == ItemOrder::increasing)
      item.min = parse_number(list.items.back().text).value_or(0), item.above_min = true;
  }
  return list;
}

Node made_up_record(const Shape& option, const Catalogs& catalogs) {
  auto record = Node::map();
  for (const auto& child : option.children) {
    if (child.key == option.shorthand) return example_value(child, catalogs);
    if (child.required) record.set(child.key, example_value(child, catalogs));
  }
  if (record.members.empty() && !option.children.empty())
    record.set(option.children[0].key, example_value(option.children[0], catalogs));
  return record;
}

/// A component without required options.
Node made_up_component(const std::string& kind, const Catalogs& catalogs) {
  const auto& catalog = *catalogs.at(kind);
  for (std::size_t i = 0; i < catalog.size(); ++i) {
    const auto& record = catalog.at(i).shape();
    const auto& options = record.children;
    if (std::none_of(options.begin(), options.end(), [](const Shape& o) { return o.required; }) &&
        defaults_agree(record))
      return Node::scalar(catalog.at(i).name);
  }
  return Node::scalar(catalog.at(0).name);
}

Node made_up(const Shape& option, const Catalogs& catalogs) {
  switch (option.kind) {
    case Shape::Kind::boolean:
      return Node::scalar("true");
    case Shape::Kind::integer:
    case Shape::Kind::number:
      return made_up_number(option);
    case Shape::Kind::text:
      return Node::scalar(option.path ? "folder/file" : "text");
    case Shape::Kind::duration:
      return Node::scalar("1 epoch");
    case Shape::Kind::size:
      return Node::scalar("25 MiB");
    case Shape::Kind::share:
      return Node::scalar("75 %");
    case Shape::Kind::word:
      return Node::scalar(option.words.at(0));
    case Shape::Kind::list:
      return made_up_list(option, catalogs);
    case Shape::Kind::table:
      return Node::map({{"name", {}, example_value(option.children[0], catalogs)}});
    case Shape::Kind::record:
      return made_up_record(option, catalogs);
    case Shape::Kind::component:
      return made_up_component(option.component, catalogs);
    case Shape::Kind::any:
      return Node::scalar("1");
  }
  return {};
}

/// The component with what it requires, what declares an example, and a few of its defaults.
Node example_component(const EntryBase& component, const Catalogs& catalogs) {
  const auto& options = component.shape().children;
  const auto must = [](const Shape& option) { return option.required || !option.example.empty(); };
  auto shown = static_cast<std::size_t>(std::count_if(options.begin(), options.end(), must));
  Node map = Node::map({{"type", {}, Node::scalar(component.name)}});
  for (const auto& option : options) {
    const auto initial = complete(option.initial, option, catalogs);
    const bool fills = shown < kOptionsShown && says_something(initial);
    if (!must(option) && !fills) continue;
    map.set(option.key, must(option) ? example_value(option, catalogs) : initial);
    if (!must(option)) ++shown;
  }
  return map.members.size() == 1 ? Node::scalar(component.name) : map;
}

}  // namespace

Node example_value(const Shape& option, const Catalogs& catalogs) {
  if (!option.example.empty()) return read_value(option.example, {"example", 1, 1, 1}).tree;
  const bool record = option.kind == Shape::Kind::record;
  const auto initial = record ? complete(option.initial, option, catalogs) : option.initial;
  const bool list = initial.is_list() && !initial.items.empty();
  const bool component = option.kind == Shape::Kind::component && !initial.is_null();
  const bool is_informative = says_something(initial) || list || component;
  return is_informative && !option.required ? initial : made_up(option, catalogs);
}

std::string example_of(const std::string& kind, const EntryBase& component,
                       const Catalogs& catalogs) {
  const auto way = Search(kind, catalogs).shortest();
  return to_yaml(at_the_end_of(way, example_component(component, catalogs)));
}

std::string example_of(const std::string& key, const Shape& option, const Catalogs& catalogs) {
  Way way;
  std::string item_type;  // of the list item that the next key is in
  for (const auto& step : read_address(key).value_or(std::vector<Step>{})) {
    if (!step.in_list) {
      const bool typed = !way.empty() && way.back().list && !item_type.empty();
      way.push_back({step.name, typed ? item_type : ""});
      continue;
    }
    way.back().list = true;
    item_type = parse_integer(step.name) ? "" : step.name;
  }
  return to_yaml(at_the_end_of(way, example_value(option, catalogs)));
}

std::string key_of_kind(const std::string& kind, const Catalogs& catalogs) {
  std::vector<std::string> keys;
  for (const auto& hop : Search(kind, catalogs).shortest()) keys.push_back(hop.key);
  return join(keys, ".");
}

}  // namespace ddptrain
