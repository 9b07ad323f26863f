// `describe KIND NAME` and `describe KEY`: options with types, ranges, units, defaults, examples.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/output/print.h"
#include "base/text.h"
#include "cli/documents/example.h"
#include "cli/program.h"
#include "config/check/hints.h"
#include "config/option_text.h"
#include "config/suggest.h"
#include "recipe/layers/option.h"

namespace ddptrain {

namespace {

std::string indented(const std::string& text, std::size_t indent) {
  std::string out;
  for (const auto& line : split(text, '\n'))
    if (!line.empty()) out += std::string(indent, ' ') + line + "\n";
  return out;
}

/// The first line: name, type, default.
std::string head_text(const Shape& shape, const std::string& initial) {
  return fmt::format("{}  ({}{})\n", shape.key, type_text(shape),
                     initial.empty() ? "" : "; " + initial);
}

/// What must hold between the options of a record, a line each.
std::string constraint_lines(const Shape& record, std::size_t indent) {
  std::string lines;
  for (const auto& text : constraint_texts(record)) lines += std::string(indent, ' ') + text + "\n";
  return lines;
}

/// A record's options follow it.
std::string option_text(const Shape& shape, std::size_t indent, bool with_default = true) {
  const std::string blanks(indent, ' ');
  auto text = blanks + head_text(shape, with_default ? default_text(shape) : "");
  if (!shape.doc.empty()) text += fmt::format("{}    {}\n", blanks, shape.doc);
  const auto& inner = shape.kind == Shape::Kind::list || shape.kind == Shape::Kind::table
                          ? shape.children[0]
                          : shape;
  if (inner.kind == Shape::Kind::record)
    for (const auto& child : inner.children) text += option_text(child, indent + 4, with_default);
  return text + constraint_lines(inner, indent + 4);
}

std::string names_text(const CatalogBase& catalog) {
  return fmt::format(
      "'ddptrain list {}' shows the {} there are; 'ddptrain describe {} {}' explains one\n",
      catalog.kind(), catalog.size(), catalog.kind(), catalog.at(0).name);
}

int describe_component(const CatalogBase& catalog, const std::string& name,
                       const Catalogs& catalogs) {
  const auto* entry = catalog.find(name);
  if (!entry) {
    auto meant = meant_components(name, catalog.kind(), catalog.names());
    if (meant.names.empty()) meant.names = nearest_names(name, catalog.names());
    const auto near = meant_text(meant);
    throw Error(Exit::recipe, "no {} is called '{}'{}", catalog.kind(), name,
                near.empty() ? "; see 'ddptrain list " + catalog.kind() + "'" : near);
  }
  auto text = fmt::format("{} {}: {}\n\n", catalog.kind(), entry->name, entry->doc);
  for (const auto& option : entry->shape().children) text += option_text(option, 2);
  if (!entry->shape().children.empty()) text += "\n";
  if (const auto lines = constraint_lines(entry->shape(), 2); !lines.empty()) text += lines + "\n";
  text += "example:\n" + indented(example_of(catalog.kind(), *entry, catalogs), 2);
  print_lines(text);
  return 0;
}

/// An option, and which components have it as described, by its default.
struct Meaning {
  const Shape* option = nullptr;
  std::string text;
  std::vector<std::pair<std::string, std::vector<std::string>>> components;
};

void add(std::vector<Meaning>& meanings, const Shape& option, const std::string& component) {
  auto text = option_text(option, 2, false);
  auto same = std::find_if(meanings.begin(), meanings.end(),
                           [&](const Meaning& m) { return m.text == text; });
  if (same == meanings.end()) same = meanings.insert(same, {&option, std::move(text), {}});
  auto& groups = same->components;
  const auto initial = default_text(option);
  auto group = std::find_if(groups.begin(), groups.end(),
                            [&](const auto& one) { return one.first == initial; });
  if (group == groups.end()) group = groups.insert(group, {initial, {}});
  group->second.push_back(component);
}

class KeyReader {
 public:
  explicit KeyReader(const Catalogs& catalogs) : catalogs_(catalogs) {}

  /// Everything that the rest of an address can mean from here on.
  void read(const Shape& shape, const std::vector<Step>& address, std::size_t at,
            const std::string& component) {
    if (shape.kind == Shape::Kind::list && at > 0 && at <= address.size())
      return list(shape, address, at, component);
    if (at == address.size()) return add(meanings, shape, component);
    if (shape.kind == Shape::Kind::table)
      return read(shape.children[0], address, at + 1, component);
    if (shape.kind == Shape::Kind::component) return components(shape, address, at, "");
    for (const auto& child : shape.children) {
      near.push_back(prefix(address, at) + child.key);
      if (child.key == address[at].name) read(child, address, at + 1, component);
    }
  }

  std::vector<Meaning> meanings;
  std::vector<std::string> near;  // keys that could have been meant

 private:
  static std::string prefix(const std::vector<Step>& address, std::size_t count) {
    const auto text =
        to_text({address.begin(), address.begin() + static_cast<std::ptrdiff_t>(count)});
    return text.empty() ? "" : text + ".";
  }

  void list(const Shape& shape, const std::vector<Step>& address, std::size_t at,
            const std::string& component) {
    if (at == address.size()) return add(meanings, shape, component);
    if (!address[at].in_list) return;
    const auto& item = shape.children[0];
    const auto type = parse_integer(address[at].name) ? "" : address[at].name;
    if (item.kind == Shape::Kind::component) return components(item, address, at + 1, type);
    if (at + 1 == address.size()) return add(meanings, shape, component);
    read(item, address, at + 1, component);
  }

  void components(const Shape& shape, const std::vector<Step>& address, std::size_t at,
                  const std::string& type) {
    if (at == address.size()) return add(meanings, shape, "");
    const auto catalog = catalogs_.find(shape.component);
    if (catalog == catalogs_.end()) return;
    for (std::size_t i = 0; i < catalog->second->size(); ++i) {
      const auto& entry = catalog->second->at(i);
      if (!type.empty() && type != entry.name) continue;
      for (const auto& child : entry.shape().children) {
        near.push_back(prefix(address, at) + child.key);
        if (child.key == address[at].name) read(child, address, at + 1, entry.name);
      }
    }
  }

  const Catalogs& catalogs_;
};

/// The option; behind it, where that depends on the component, which has which default.
std::string meaning_text(const Meaning& meaning, bool only) {
  const auto& groups = meaning.components;
  if (groups.size() == 1 && (only || groups[0].second[0].empty()))
    return option_text(*meaning.option, 2);
  auto text = groups.size() == 1 ? option_text(*meaning.option, 2) : meaning.text;
  for (const auto& [initial, components] : groups)
    text +=
        fmt::format("      {}of {}\n", groups.size() == 1 || initial.empty() ? "" : initial + " ",
                    join(components, ", "));
  return text;
}

/// What another tool's key or component is called here; empty when we know nothing.
std::string foreign_text(const std::string& word, const Catalogs& catalogs) {
  for (const auto& [kind, catalog] : catalogs)
    if (const auto meant = meant_components(word, kind, catalog->names()); !meant.names.empty())
      return fmt::format("; here it is the {} {}{}", kind, one_of(meant.names), meant.says);
  const auto hint = foreign_key_hint(word);
  return hint.empty() ? "" : "; here it is " + hint;
}

[[noreturn]] void refuse_key(const std::string& key, const KeyReader& reader,
                             const Catalogs& catalogs) {
  auto candidates = reader.near;
  for (const auto& [kind, unused] : catalogs) candidates.push_back(kind);
  for (const auto& child : recipe_shape().children) {
    candidates.push_back(child.key);
    for (const auto& inner : child.children) candidates.push_back(child.key + "." + inner.key);
    const auto catalog = catalogs.find(child.component);
    for (std::size_t i = 0; catalog != catalogs.end() && i < catalog->second->size(); ++i)
      for (const auto& option : catalog->second->at(i).shape().children)
        candidates.push_back(child.key + "." + option.key);
  }
  const auto key_of_ours = nearest_key(key, candidates);
  auto near = did_you_mean(key_of_ours, "; see 'ddptrain list'");
  const auto foreign = foreign_text(key, catalogs);
  if (!foreign.empty() && !key_of_ours.ends_with("." + key)) near = foreign;
  throw Error(Exit::recipe, "'{}' is neither a key of recipes nor a kind of component{}", key,
              near);
}

/// What a value of this option may be: "optimizer" of an optimizer or a list of them.
const std::string& kind_of(const Shape& option) {
  return option.kind == Shape::Kind::list ? option.children[0].component : option.component;
}

/// `optimizer.type` is explained as `optimizer`.
std::string without_type(const std::string& key) {
  constexpr std::string_view type = ".type";
  return key.ends_with(type) ? key.substr(0, key.size() - type.size()) : key;
}

int describe_key(const std::string& word, const Catalogs& catalogs) {
  const auto key = without_type(word);
  KeyReader reader(catalogs);
  if (const auto address = read_address(key)) reader.read(recipe_shape(), *address, 0, "");
  const auto& meanings = reader.meanings;
  if (meanings.empty() && !catalogs.contains(key)) refuse_key(key, reader, catalogs);
  auto kind = key;
  auto text = key + ": ";
  if (meanings.empty()) {
    text += fmt::format("a kind of component, named in {}\n", key_of_kind(key, catalogs));
  } else {
    text += "a key of recipes\n\n";
    for (const auto& meaning : meanings) text += meaning_text(meaning, meanings.size() == 1);
    text += "\nexample:\n" + indented(example_of(key, *meanings[0].option, catalogs), 2);
    kind = kind_of(*meanings[0].option);
  }
  if (const auto catalog = catalogs.find(kind); catalog != catalogs.end())
    text += "\n" + names_text(*catalog->second);
  print_lines(text);
  return 0;
}

/// The kinds that have a component of this name.
std::vector<std::string> kinds_of(const std::string& name, const Catalogs& catalogs) {
  std::vector<std::string> kinds;
  for (const auto& [kind, catalog] : catalogs)
    if (catalog->find(name)) kinds.push_back(kind);
  return kinds;
}

/// A key of recipes, a kind, or else a component whose name one kind alone has.
int describe_word(const std::string& word, const Catalogs& catalogs) {
  const auto kinds = kinds_of(word, catalogs);
  KeyReader reader(catalogs);
  if (const auto address = read_address(word)) reader.read(recipe_shape(), *address, 0, "");
  if (kinds.empty() || !reader.meanings.empty() || catalogs.contains(word))
    return describe_key(word, catalogs);
  if (kinds.size() == 1) return describe_component(*catalogs.at(kinds[0]), word, catalogs);
  std::vector<std::string> ways;
  for (const auto& kind : kinds) ways.push_back("'ddptrain describe " + kind + " " + word + "'");
  throw Error(Exit::recipe, "'{}' is a name in several kinds ({}); write {}", word,
              join(kinds, ", "), join(ways, " or "));
}

int describe(const Arguments& arguments) {
  add_given_plugin(arguments);
  const auto& catalogs = *arguments.program->catalogs;
  if (arguments.words.size() == 1) return describe_word(arguments.words[0], catalogs);
  return describe_component(arguments.program->catalog(arguments.words[0]), arguments.words[1],
                            catalogs);
}

}  // namespace

Verb describe_verb() {
  return {.name = "describe",
          .usage = "KIND NAME | NAME | KEY",
          .summary = "a component's options, or a key of recipes: type, range, default, example",
          .flags = {kPlugin},
          .min_words = 1,
          .max_words = 2,
          .run = describe};
}

}  // namespace ddptrain
