#include "cli/documents/components.h"

#include <fmt/format.h>

#include <deque>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "config/plugin_components.h"
#include "config/shape_json.h"

namespace ddptrain {
namespace {

Json to_json(const Verb& verb) {
  Json flags = Json::array();
  for (const auto& flag : verb.flags)
    flags.push_back({{"name", flag.name}, {"value", flag.value}, {"doc", flag.doc}});
  return {{"name", verb.name},           {"usage", verb.usage},
          {"summary", verb.summary},     {"flags", flags},
          {"min_files", verb.min_files}, {"min_words", verb.min_words},
          {"max_words", verb.max_words}};
}

Json face(const EntryBase& entry) {
  return {{"name", entry.name}, {"doc", entry.doc}, {"traits", entry.traits}};
}

std::string lines(const std::vector<Json>& items) {
  std::string text;
  for (const auto& item : items) text += (text.empty() ? "  " : ",\n  ") + json_text(item);
  return fmt::format("[\n{}\n ]", text);
}

/// A text that stays, for members that only look at one.
std::string_view kept(const Json& json, const char* key) {
  static std::deque<std::string> texts;
  return texts.emplace_back(json.at(key).get<std::string>());
}

Verb verb_from_json(const Json& json) {
  Verb verb{.name = kept(json, "name"),
            .usage = kept(json, "usage"),
            .summary = kept(json, "summary"),
            .flags = {},
            .min_files = json.value("min_files", std::size_t{0}),
            .min_words = json.at("min_words"),
            .max_words = json.at("max_words"),
            .run = nullptr};
  for (const auto& flag : json.at("flags"))
    verb.flags.push_back({kept(flag, "name"), kept(flag, "value"), kept(flag, "doc")});
  return verb;
}

/// The items of one list: each line without its indentation and comma.
std::vector<std::string_view> items_of(std::string_view list) {
  std::vector<std::string_view> items;
  while (!list.empty()) {
    const auto end = std::min(list.find('\n'), list.size());
    auto item = trim(list.substr(0, end));
    if (item.ends_with(',')) item.remove_suffix(1);
    if (item.starts_with('{')) items.push_back(item);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return items;
}

}  // namespace

class Components::Kind final : public CatalogBase {
 public:
  explicit Kind(std::string kind) : CatalogBase(std::move(kind)) {}
  /// Each component's face, and in the next item its options. Those of plug-ins are compared with
  /// the others.
  void add(const std::vector<std::string_view>& items, bool of_plugin) {
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      const auto json = parse_json(items[i]);
      const std::string name = json.at("name");
      require_new(name);
      const auto make = [text = items[i + 1]] { return shape_from_json(parse_json(text)); };
      auto& options = shapes_[items[i + 1]];
      if (!options) options = std::make_shared<const LazyShape>(make);
      EntryBase entry{name, json.at("doc"), json.at("traits"), options};
      if (of_plugin) require_known_traits(entry, *this);
      entries_.push_back(std::move(entry));
    }
  }
  /// Makes all shapes now, so that a damaged one is found here.
  void make_shapes() const {
    for (const auto& entry : entries_) entry.shape();
  }
  std::size_t size() const override { return entries_.size(); }
  const EntryBase& at(std::size_t index) const override { return entries_[index]; }

 private:
  std::deque<EntryBase> entries_;
  std::map<std::string_view, std::shared_ptr<const LazyShape>> shapes_;  // one for equal options
};

namespace {

std::string kind_text(const CatalogBase& catalog, std::size_t first) {
  std::vector<Json> components;
  for (std::size_t i = first; i < catalog.size(); ++i) {
    components.push_back(face(catalog.at(i)));
    components.push_back(to_json(catalog.at(i).shape()));
  }
  return fmt::format(",\n \"{}\": {}", catalog.kind(), lines(components));
}

}  // namespace

std::string components_text(const Program& program) {
  std::vector<Json> verbs;
  for (const auto& verb : program.verbs) verbs.push_back(to_json(verb));
  std::string text = "{\n \"verbs\": " + lines(verbs);
  for (const auto& [kind, catalog] : *program.catalogs) text += kind_text(*catalog, 0);
  return text + "\n}\n";
}

std::string plugin_components_text(const Catalogs& catalogs,
                                   const std::map<std::string, std::size_t>& first,
                                   const std::string& versions) {
  auto text = "{\n \"plugin\": " + json_text(Json(versions));
  for (const auto& [kind, catalog] : catalogs)
    if (first.at(kind) < catalog->size()) text += kind_text(*catalog, first.at(kind));
  return text + "\n}\n";
}

Components::~Components() = default;

Components::Components(std::string_view text) { read(text, false); }

void Components::add(std::string_view text) {
  static std::deque<std::string> kept_texts;
  read(kept_texts.emplace_back(text), true);
  for (const auto& [name, kind] : kinds_) kind->make_shapes();
}

void Components::read(std::string_view text, bool of_plugin) {
  for (auto open = text.find(": ["); open != std::string_view::npos; open = text.find(": [")) {
    const auto key = trim(text.substr(text.rfind('"', open - 2) + 1));
    const std::string name(key.substr(0, key.find('"')));
    const auto close = text.find("\n ]", open);
    if (close == std::string_view::npos) throw Error(Exit::recipe, "a list without an end");
    const auto items = items_of(text.substr(open + 3, close - open - 3));
    text.remove_prefix(close + 3);
    if (name == "verbs") {
      for (const auto& item : items) verbs_.push_back(verb_from_json(parse_json(item)));
      continue;
    }
    auto& kind = kinds_[name];
    if (!kind) kind = std::make_unique<Kind>(name);
    kind->add(items, of_plugin);
    catalogs_[name] = kind.get();
  }
}

}  // namespace ddptrain
