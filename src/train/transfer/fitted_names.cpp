#include "train/transfer/fitted_names.h"

#include "base/json.h"

namespace ddptrain {
namespace {

std::string text_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// None unless all are texts.
std::vector<std::string> texts_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array()) return {};
  std::vector<std::string> texts;
  for (const auto& text : *found) {
    if (!text.is_string()) return {};
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

FittedTokenizer tokenizer_in(const Json& json) {
  FittedTokenizer tokenizer{text_at(json, "tokenizer"), {}};
  const auto options = json.find("tokenizer_options");
  if (options == json.end() || !options->is_object()) return tokenizer;
  for (const auto& [key, value] : options->items())
    if (value.is_string()) tokenizer.options[key] = value.get<std::string>();
  return tokenizer;
}

/// Without classes, the columns of the target are numbers.
std::vector<std::string> targets_in(const Json& json) {
  const auto options = json.find("options");
  if (options == json.end() || !options->is_object() || !texts_at(json, "target_classes").empty())
    return {};
  const auto one = text_at(*options, "target");
  return one.empty() ? texts_at(*options, "target") : std::vector{one};
}

}  // namespace

FittedNames fitted_names(const std::string& state) {
  FittedNames names;
  const auto json = json_or_null(state);
  if (!json.is_object()) return names;
  names.tokenizer = tokenizer_in(json);
  names.targets = targets_in(json);
  if (auto words = texts_at(json, "vocabulary"); !words.empty())
    names.columns.push_back({"", std::move(words), true});
  const auto list = [&](const char* key) { return json.value(key, Json::array()); };
  for (const auto& column : list("categories"))
    if (column.is_object())
      names.columns.push_back({text_at(column, "name"), texts_at(column, "classes"), false});
  for (const auto& column : list("continuous"))
    if (column.is_object()) names.numbers.push_back(text_at(column, "name"));
  return names;
}

}  // namespace ddptrain
