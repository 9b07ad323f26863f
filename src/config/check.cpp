#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "config/hints.h"
#include "config/scalar.h"
#include "config/shape.h"

namespace ddptrain {
namespace {

constexpr std::size_t kLongestListing = 16;

/// "Where runs go." -> "where runs go", for the end of a message.
std::string as_clause(std::string doc) {
  if (doc.ends_with('.')) doc.pop_back();
  const bool word = doc.size() > 1 && std::islower(static_cast<unsigned char>(doc[1]));
  if (word) doc[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(doc[0])));
  return doc;
}

std::string meant(const std::string& near) { return "; did you mean '" + near + "'?"; }

/// Collects every problem of a tree.
class Checker {
 public:
  Checker(const Catalogs& catalogs, Problems& problems)
      : catalogs_(catalogs), problems_(problems) {}

  void value(const Node& node, const Shape& shape, const std::string& path) {
    if (node.is_null() && shape.nullable) return;
    if (shape.automatic && node.is_scalar() && node.text == "auto") return;
    switch (shape.kind) {
      case Shape::Kind::record:
        return record(node, shape, path);
      case Shape::Kind::component:
        return component(node, shape, path);
      case Shape::Kind::list:
        return list(node, shape, path);
      case Shape::Kind::table:
        return table(node, shape, path);
      case Shape::Kind::word:
        return word(node, shape, path);
      default:
        return scalar(node, shape, path);
    }
  }

 private:
  void report(const std::string& rule, const Place& place, const std::string& path,
              const std::string& message) {
    problems_.push_back({Severity::error, rule, place, path, message});
  }

  static std::string below(const std::string& path, const std::string& key) {
    return path.empty() ? key : path + "." + key;
  }

  void bad(const Node& node, const Shape& shape, const std::string& path,
           const std::string& message) {
    const auto* other = shape.automatic ? "; or write auto" : "";
    report("bad-value", node.place, path, message + other);
  }

  // what a number, switch, text or amount may be

  void scalar(const Node& node, const Shape& shape, const std::string& path) {
    std::string why;
    bool fits = true;
    switch (shape.kind) {
      case Shape::Kind::boolean:
        fits = read_boolean(node, why).has_value();
        break;
      case Shape::Kind::integer:
        return number(node, shape, path, read_integer(node, why), why);
      case Shape::Kind::number:
        return number(node, shape, path, read_number(node, why), why);
      case Shape::Kind::text:
        fits = read_text(node, why).has_value();
        break;
      case Shape::Kind::duration:
        fits = amount<Duration>(node, why);
        break;
      case Shape::Kind::size:
        fits = amount<Size>(node, why);
        break;
      default:
        fits = amount<Share>(node, why);
        break;
    }
    if (!fits) bad(node, shape, path, why);
  }

  template <class T>
  static bool amount(const Node& node, std::string& why) {
    T ignored;
    return parse(node, ignored, why);
  }

  template <class T>
  void number(const Node& node, const Shape& shape, const std::string& path,
              const std::optional<T>& value, const std::string& why) {
    if (!value) return bad(node, shape, path, why);
    const auto x = static_cast<double>(*value);
    const bool low = shape.above_min ? x <= shape.min : x < shape.min;
    const bool high = shape.below_max ? x >= shape.max : x > shape.max;
    if (low)
      bad(node, shape, path,
          node.text + (shape.above_min ? " is not above " : " is below the minimum ") +
              format_number(shape.min));
    if (high)
      bad(node, shape, path,
          node.text + (shape.below_max ? " is not below " : " is above the maximum ") +
              format_number(shape.max));
  }

  void word(const Node& node, const Shape& shape, const std::string& path) {
    const auto& words = shape.words;
    const bool known =
        node.is_scalar() && std::find(words.begin(), words.end(), node.text) != words.end();
    if (known) return;
    const auto near = node.is_scalar() ? nearest(node.text, words) : "";
    bad(node, shape, path,
        describe(node) + " is not one of " + join(words, ", ") + (near.empty() ? "" : meant(near)));
  }

  // containers

  void list(const Node& node, const Shape& shape, const std::string& path) {
    if (!node.is_list()) {
      const auto written = node.is_scalar() ? "[" + node.text + "]" : "[...]";
      return bad(node, shape, path,
                 describe(node) + " is not a list; write " + (node.is_null() ? "[]" : written));
    }
    const auto count = node.items.size();
    const auto holds = plural(static_cast<std::int64_t>(count), "item");
    if (count < shape.min_items)
      bad(node, shape, path, holds + ", at least " + std::to_string(shape.min_items) + " needed");
    if (count > shape.max_items)
      bad(node, shape, path, holds + ", at most " + std::to_string(shape.max_items) + " allowed");
    for (std::size_t i = 0; i < count; ++i)
      value(node.items[i], shape.children[0], path + "[" + std::to_string(i) + "]");
  }

  void table(const Node& node, const Shape& shape, const std::string& path) {
    if (!node.is_map()) return bad(node, shape, path, describe(node) + " is not a map");
    for (const auto& member : node.members)
      value(member.value, shape.children[0], below(path, member.key));
  }

  void record(const Node& node, const Shape& shape, const std::string& path) {
    if (!node.is_map()) return shorthand(node, shape, path);
    const auto owner = path.empty() ? "a recipe" : "'" + path.substr(path.rfind('.') + 1) + "'";
    fields(node, shape, path, owner);
  }

  void shorthand(const Node& node, const Shape& shape, const std::string& path) {
    const auto& key =
        node.is_list() && !shape.list_shorthand.empty() ? shape.list_shorthand : shape.shorthand;
    if (key.empty() || node.is_null())
      return bad(node, shape, path, describe(node) + " is not a map of options");
    for (const auto& child : shape.children)
      if (child.key == key) value(node, child, path);
  }

  void fields(const Node& node, const Shape& shape, const std::string& path,
              const std::string& owner) {
    for (const auto& member : node.members) {
      const auto child = std::find_if(shape.children.begin(), shape.children.end(),
                                      [&](const Shape& field) { return field.key == member.key; });
      if (child != shape.children.end())
        value(member.value, *child, below(path, member.key));
      else if (member.key != "type" || shape.component.empty())
        unknown_key(member, shape, path, owner);
    }
    for (const auto& child : shape.children)
      if (child.required && !node.find(child.key))
        report("missing-key", node.place, path,
               "'" + child.key + "' is missing: " + as_clause(child.doc));
  }

  void unknown_key(const Member& member, const Shape& shape, const std::string& path,
                   const std::string& owner) {
    std::vector<std::string> known;
    for (const auto& child : shape.children) known.push_back(child.key);
    std::string message =
        "'" + member.key + "' is not " + (path.empty() ? "a key of " : "an option of ") + owner;
    const auto near = nearest(member.key, known);
    const auto ours = foreign_key_hint(member.key);
    const bool here = ours == "'" + path + "." + member.key + "'";
    std::string rule = "unknown-key";
    if (!ours.empty() && !here) {
      message += "; here it is " + ours;
      rule = "foreign-key";
    } else if (!near.empty()) {
      message += meant(near);
    } else if (known.empty()) {
      message += ", which has none";
    } else if (known.size() <= kLongestListing) {
      message += "; its options are " + join(known, ", ");
    }
    report(rule, member.place, path, message);
  }

  // components

  void component(const Node& node, const Shape& shape, const std::string& path) {
    const auto& kind = shape.component;
    if (!node.is_scalar() && !node.is_map())
      return bad(node, shape, path,
                 describe(node) + " is not a " + kind + "; write {type: ...} with its options");
    const auto catalog = catalogs_.find(kind);
    if (catalog == catalogs_.end()) return;
    const Node* type = node.is_scalar() ? &node : node.find("type");
    if (type == nullptr) return missing_type(node, shape, path, *catalog->second);
    const auto* entry = type->is_scalar() ? catalog->second->find(type->text) : nullptr;
    if (entry == nullptr) return unknown_component(*type, kind, path, *catalog->second);
    auto options = entry->shape();
    options.component = kind;
    const auto empty = Node::map({}, node.place);
    fields(node.is_map() ? node : empty, options, path, "'" + entry->name + "'");
  }

  static std::string listing(const CatalogBase& catalog) {
    const auto names = catalog.names();
    if (names.size() > kLongestListing) return "'ddptrain list " + catalog.kind() + "' shows them";
    return "one of " + join(names, ", ");
  }

  void missing_type(const Node& node, const Shape& shape, const std::string& path,
                    const CatalogBase& catalog) {
    const auto* usual = shape.initial.find("type");
    report("missing-key", node.place, path,
           "'type' is missing; " +
               (usual ? "write 'type: " + usual->text + "' for the default" : listing(catalog)));
  }

  void unknown_component(const Node& type, const std::string& kind, const std::string& path,
                         const CatalogBase& catalog) {
    const auto near = type.is_scalar() ? nearest(type.text, catalog.names()) : "";
    report("unknown-component", type.place, path,
           describe(type) + " is not a known " + kind +
               (near.empty() ? "; " + listing(catalog) : meant(near)));
  }

  const Catalogs& catalogs_;
  Problems& problems_;
};

}  // namespace

Problems check(const Node& tree, const Shape& shape, const Catalogs& catalogs) {
  Problems problems;
  Checker(catalogs, problems).value(tree, shape, "");
  return problems;
}

}  // namespace ddptrain
