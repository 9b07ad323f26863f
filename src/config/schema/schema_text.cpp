#include "base/json.h"
#include "config/schema/schema.h"

#include <fmt/format.h>

#include <map>

namespace ddptrain {
namespace {

constexpr std::size_t kWorthSharing = 80;  // characters; a reference takes half of it
constexpr int kBrokenLevels = 2;           // the schema, and its properties or definitions

class Sharing {
 public:
  /// Counts what properties say, at any depth.
  void count(const Json& schema) {
    if (!schema.is_structured()) return;
    for (const auto& [key, value] : schema.items()) {
      count(value);
      if (!is_properties(schema, key)) continue;
      for (const auto& [name, option] : value.items()) ++uses_[{name, json_text(option)}];
    }
  }

  void replace(Json& schema) {
    if (!schema.is_structured()) return;
    for (auto& [key, value] : schema.items()) {
      if (is_properties(schema, key))
        for (auto& [name, option] : value.items()) share(name, option);
      replace(value);
    }
  }

  const Json& definitions() const { return definitions_; }

 private:
  static bool is_properties(const Json& parent, const std::string& key) {
    return parent.is_object() && key == "properties" && parent[key].is_object();
  }

  void share(const std::string& name, Json& option) {
    const auto text = json_text(option);
    if (text.size() < kWorthSharing || uses_[{name, text}] < 2) return;
    auto& definition = names_[{name, text}];
    if (definition.empty()) {
      definition = "option." + name;
      for (int i = 2; definitions_.contains(definition); ++i)
        definition = fmt::format("option.{}.{}", name, i);
      definitions_[definition] = nullptr;  // its place in the order
      Json own = option;
      replace(own);
      definitions_[definition] = own;
    }
    option = {{"$ref", "#/definitions/" + definition}};
  }

  std::map<std::pair<std::string, std::string>, int> uses_;
  std::map<std::pair<std::string, std::string>, std::string> names_;
  Json definitions_ = Json::object();
};

std::string broken(const Json& json, int levels) {
  if (levels == 0 || !json.is_object() || json.empty()) return json_text(json);
  const std::string indent(static_cast<std::size_t>(kBrokenLevels - levels), ' ');
  std::string text;
  for (const auto& [key, value] : json.items())
    text += fmt::format("{}{}{}: {}", text.empty() ? "" : ",\n", indent, json_text(Json(key)),
                        broken(value, levels - 1));
  return fmt::format("{{\n{}\n{}}}", text, indent);
}

}  // namespace

void share_options(Json& schema) {
  Sharing sharing;
  sharing.count(schema);
  sharing.replace(schema);
  schema["definitions"].update(sharing.definitions());
}

std::string schema_text(const Json& schema) { return broken(schema, kBrokenLevels) + "\n"; }

}  // namespace ddptrain
