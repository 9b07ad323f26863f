#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "config/fits.h"
#include "config/hints.h"
#include "config/option_text.h"
#include "config/scalar.h"
#include "config/shape.h"
#include "config/suggest.h"
#include "config/unknown_key.h"

namespace ddptrain {
namespace {

constexpr std::size_t kLongestListing = 16;
constexpr std::size_t kMostProblems = 200;
constexpr std::size_t kMostRows = 10'000;

/// "Where runs go." -> "where runs go", for the end of a message.
std::string as_clause(std::string doc) {
  if (doc.ends_with('.')) doc.pop_back();
  const bool word = doc.size() > 1 && std::islower(static_cast<unsigned char>(doc[1]));
  if (word) doc[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(doc[0])));
  return doc;
}

/// Ends a check that has said enough.
struct Enough {};

std::string a(const std::string& kind) { return a_component(kind); }

std::string expected(const Shape& shape) {
  switch (shape.kind) {
    case Shape::Kind::boolean:
      return "true or false";
    case Shape::Kind::integer:
      return "an integer";
    case Shape::Kind::number:
      return "a number";
    case Shape::Kind::text:
      return "text";
    case Shape::Kind::duration:
      return shape.unit.empty() ? "a duration such as '5 epochs'" : "a time such as '5 min'";
    case Shape::Kind::size:
      return "a size such as '64 MiB'";
    case Shape::Kind::share:
      return "a share such as '75 %'";
    case Shape::Kind::word:
      return "one of " + join(shape.words, ", ");
    case Shape::Kind::list:
      return "a list";
    case Shape::Kind::component:
      return a(shape.component) + ", {type: ...} with its options,";
    default:
      return "a map";
  }
}

/// What other languages write for nothing.
bool means_null(const Node& node) {
  const auto text = node.is_scalar() ? lower(node.text) : "";
  return text == "none" || text == "null" || text == "nil" || text == "no" || text == "off" ||
         text == "false";
}

/// "type:sgd" -> the text before its colon is one of the keys, as in a map that lacks a space.
bool lacks_space(const std::string& text, const std::vector<std::string>& keys) {
  const auto colon = text.find(':');
  return colon != std::string::npos &&
         std::find(keys.begin(), keys.end(), text.substr(0, colon)) != keys.end();
}

/// Collects every problem of a tree.
class Checker {
 public:
  Checker(const Catalogs& catalogs, Problems& problems, KeyAdvisor* advisor)
      : catalogs_(catalogs), problems_(problems), advisor_(advisor) {}

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
  /// `suggestion` replaces what stands at `place`.
  void report(const std::string& rule, const Place& place, const std::string& path,
              const std::string& message, const std::string& suggestion = {}) {
    if (!advisor_ && rule == "missing-key") return;  // another layer may have it
    problems_.push_back({Severity::error, rule, place, path, message, suggestion});
    if (!advisor_) throw Enough{};
    if (problems_.size() < kMostProblems) return;
    problems_.push_back({Severity::error, "too-many-problems", place, "",
                         std::to_string(kMostProblems) + " problems so far; the rest is not told"});
    throw Enough{};
  }

  static std::string only(const std::vector<std::string>& names) {
    return names.size() == 1 ? names[0] : "";
  }

  static std::string below(const std::string& path, const std::string& key) {
    return path.empty() ? key : path + "." + key;
  }

  void bad(const Node& node, const Shape& shape, const std::string& path,
           const std::string& message, const std::string& suggestion = {}) {
    std::string other = shape.automatic ? "; or write auto" : "";
    const bool none = shape.nullable && means_null(node);
    if (none) other = "; write null for none";
    report("bad-value", node.place, path, message + other, none ? "null" : suggestion);
  }

  /// A list or map where something else belongs.
  void mismatch(const Node& node, const Shape& shape, const std::string& path) {
    bad(node, shape, path, "this is " + describe(node) + "; " + expected(shape) + " was expected");
  }

  // what a number, switch, text or amount may be

  void scalar(const Node& node, const Shape& shape, const std::string& path) {
    if (node.is_list() || node.is_map()) return mismatch(node, shape, path);
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
        if (!fits && !shape.unit.empty()) why = no_time(node, why);
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

  /// A duration that only time makes sense for: what to write is no number of epochs.
  static std::string no_time(const Node& node, const std::string& why) {
    std::string unused;
    const auto number = node.is_scalar() ? read_number(node, unused) : std::nullopt;
    if (number)
      return "'" + node.text + "' has no unit; write '" + format_number(*number) + " s' or '" +
             format_number(*number) + " min'";
    const bool general = why.find("epochs") != std::string::npos;
    return general ? describe(node) + " is not a time; write for example '5 min'" : why;
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
    if (node.is_list() || node.is_map()) return mismatch(node, shape, path);
    const auto& words = shape.words;
    const bool known =
        node.is_scalar() && std::find(words.begin(), words.end(), node.text) != words.end();
    if (known) return;
    auto near = nearest_names(node.text, words);
    if (const auto ours = foreign_word(node.text, words); !ours.empty()) near = {ours};
    bad(node, shape, path,
        describe(node) + " is not one of " + join(words, ", ") + did_you_mean(near), only(near));
  }

  // containers

  void list(const Node& node, const Shape& shape, const std::string& path) {
    if (node.is_map()) return mismatch(node, shape, path);
    if (!node.is_list()) {
      const auto written = node.is_null() ? "[]" : "[" + node.text + "]";
      const auto message = describe(node) + " is not a list; write " + written;
      return shape.nullable ? bad(node, shape, path, message)
                            : report("bad-value", node.place, path, message);
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
    if (node.is_list()) return mismatch(node, shape, path);
    if (!node.is_map()) return bad(node, shape, path, describe(node) + " is not a map");
    if (node.members.size() > kMostRows)
      return bad(node, shape, path,
                 std::to_string(node.members.size()) + " rows, at most " +
                     std::to_string(kMostRows) + " allowed");
    for (const auto& member : node.members)
      value(member.value, shape.children[0], below(path, member.key));
  }

  void record(const Node& node, const Shape& shape, const std::string& path) {
    if (!node.is_map()) return shorthand(node, shape, path);
    if (const auto* meant = wrapped(node, shape)) return unwrap(node, shape, *meant, path);
    fields(node, shape, path, "");
  }

  /// "lr: {value: 0.1}": the value that stands under a key of nobody's, where it could be written
  /// alone.
  static const Node* wrapped(const Node& node, const Shape& shape) {
    if (shape.shorthand.empty() || node.members.size() != 1) return nullptr;
    const auto& only = node.members[0];
    const auto known = [&](const Shape& child) {
      return child.key == only.key || is_near(child.key, name_distance(only.key, child.key));
    };
    const bool ours = std::any_of(shape.children.begin(), shape.children.end(), known);
    return ours || !only.value.is_scalar() ? nullptr : &only.value;
  }

  void unwrap(const Node& node, const Shape& shape, const Node& meant, const std::string& path) {
    std::vector<std::string> keys;
    std::string wanted = "a value";
    for (const auto& child : shape.children) {
      keys.push_back(child.key);
      if (child.key == shape.shorthand) wanted = expected(child);
    }
    const auto last = path.substr(path.rfind('.') + 1);
    bad(node, shape, path,
        "'" + node.members[0].key + "' is not an option here; " + wanted + " was expected, '" +
            last + ": " + meant.text + "', or a map of " + join(keys, ", "));
  }

  void shorthand(const Node& node, const Shape& shape, const std::string& path) {
    const auto& key =
        node.is_list() && !shape.list_shorthand.empty() ? shape.list_shorthand : shape.shorthand;
    if (key.empty() && node.is_list()) return mismatch(node, shape, path);
    if (key.empty() || node.is_null()) return not_a_map(node, shape, path);
    for (const auto& child : shape.children)
      if (child.key == key) value(node, child, path);
  }

  void not_a_map(const Node& node, const Shape& shape, const std::string& path) {
    std::vector<std::string> keys;
    for (const auto& child : shape.children) keys.push_back(child.key);
    const bool tight = node.is_scalar() && lacks_space(node.text, keys);
    bad(node, shape, path,
        describe(node) + " is not a map of options" +
            (tight ? "; a space is missing after the ':'" : ""));
  }

  /// `owner` is the component whose options these are, empty in a plain section.
  void fields(const Node& node, const Shape& shape, const std::string& path,
              const std::string& owner) {
    std::vector<std::string> misspelt;
    for (const auto& member : node.members) {
      const auto child = std::find_if(shape.children.begin(), shape.children.end(),
                                      [&](const Shape& field) { return field.key == member.key; });
      if (child != shape.children.end())
        value(member.value, *child, below(path, member.key));
      else if (member.key != "type" || shape.component.empty())
        misspelt.push_back(unknown_key(member, node, shape, path, owner));
    }
    const auto meant = [&](const std::string& key) {
      return std::find(misspelt.begin(), misspelt.end(), key) != misspelt.end();
    };
    for (const auto& child : shape.children) {
      const bool told = meant(child.key) || meant("extends");
      if (child.required && !told && !node.find(child.key))
        report("missing-key", node.place, path,
               "'" + child.key + "' is missing: " + as_clause(child.doc));
    }
  }

  /// The key that was meant, where it is one of this map.
  std::string unknown_key(const Member& member, const Node& map, const Shape& shape,
                          const std::string& path, const std::string& owner) {
    if (!advisor_) report("unknown-key", member.place, path, "");
    const UnknownKey key{member, map, shape, path, owner, shape.component};
    const auto advice = advisor_->advise(key);
    report(advice.rule, member.place, path, advice.message, advice.meant);
    const bool foreign = advice.rule == "foreign-key" || !advice.sure;
    if (foreign && member.value.is_map()) foreign_section(member, below(path, member.key));
    return advice.meant;
  }

  /// The keys of another tool's section: each that is recognised is told its place here.
  void foreign_section(const Member& section, const std::string& path) {
    static const Shape none;
    for (const auto& member : section.value.members) {
      const UnknownKey key{member, section.value, none, path, none.key, none.key};
      const auto advice = advisor_->advise(key);
      if (advice.sure) report(advice.rule, member.place, path, advice.message);
    }
  }

  // components

  void component(const Node& node, const Shape& shape, const std::string& path) {
    const auto& kind = shape.component;
    if (node.is_list()) return mismatch(node, shape, path);
    if (node.is_null())
      return bad(node, shape, path,
                 "null is not " + a(kind) + "; write {type: ...} with its options");
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

  static std::string listing(const CatalogBase& catalog) {
    const auto names = catalog.names();
    if (names.size() > kLongestListing) return "'ddptrain list " + catalog.kind() + "' shows them";
    return "one of " + join(names, ", ");
  }

  void missing_type(const Node& node, const Shape& shape, const std::string& path,
                    const CatalogBase& catalog) {
    for (const auto& member : node.members) {
      if (!is_near("type", name_distance(member.key, "type")) || !member.value.is_scalar())
        continue;
      return report("unknown-key", member.place, path,
                    "'" + member.key + "' is not an option of " + a(catalog.kind()) +
                        "; did you mean 'type'?",
                    "type");
    }
    const auto* usual = shape.initial.find("type");
    report("missing-key", node.place, path,
           "'type' is missing; " +
               (usual ? "write 'type: " + usual->text + "' for the default" : listing(catalog)));
  }

  void unknown_component(const Node& type, const Shape& shape, const std::string& path,
                         const CatalogBase& catalog) {
    if (type.is_list() || type.is_map())
      return report(
          "unknown-component", type.place, path,
          "this is " + describe(type) + "; the name of " + a(catalog.kind()) + " was expected");
    auto near = nearest_names(type.text, catalog.names());
    if (const auto ours = foreign_word(type.text, catalog.names()); !ours.empty()) near = {ours};
    if (const auto kind = kind_of(type.text); !kind.empty())
      return report(
          "unknown-component", type.place, path,
          "'" + type.text + "' is " + a(kind) + ", not " + a(catalog.kind()) + did_you_mean(near));
    std::string other = near.empty() ? "; " + listing(catalog) : did_you_mean(near);
    if (lacks_space(type.text, {"type"})) other = "; a space is missing after the ':'";
    if (shape.nullable && means_null(type)) other = "; write null for none";
    report("unknown-component", type.place, path,
           describe(type) + " is not " + a(catalog.kind()) + other,
           other == did_you_mean(near) ? only(near) : "");
  }

  /// The first kind that has a component of this name.
  std::string kind_of(const std::string& name) const {
    for (const auto& [kind, catalog] : catalogs_)
      if (catalog->find(name)) return kind;
    return {};
  }

  const Catalogs& catalogs_;
  Problems& problems_;
  KeyAdvisor* advisor_;  // none: nobody reads the messages
};

}  // namespace

Problems check(const Node& tree, const Shape& shape, const Catalogs& catalogs) {
  Problems problems;
  KeyAdvisor advisor(tree, shape, catalogs);
  try {
    Checker(catalogs, problems, &advisor).value(tree, shape, "");
  } catch (const Enough&) {  // the problems say so
  }
  return problems;
}

bool fits(const Node& value, const Shape& shape, const Catalogs& catalogs) {
  Problems problems;
  try {
    Checker(catalogs, problems, nullptr).value(value, shape, "");
  } catch (const Enough&) {  // the problems say so
  }
  return problems.empty();
}

}  // namespace ddptrain
