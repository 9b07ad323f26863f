#include "checkpoint/words_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files/files.h"
#include "base/text.h"
#include "checkpoint/pytorch/pickle.h"

namespace ddptrain {
namespace {

using Ref = Pickle::Ref;
using Kind = Pickle::Value::Kind;

[[noreturn]] void refuse_words(const std::string& path, const std::string& why) {
  throw Error(
      Exit::data,
      "'{}': {}; a list of words is expected, such as fastai's itos.pkl, in order of their numbers",
      path, why);
}

/// Lists within lists of a hostile file end here; those of fastai are two deep.
constexpr int kDeepest = 8;

/// A pickle writes an equal text once and then refers to it, in two bytes: of "xxfake" three times
/// as many letters come out.
constexpr std::size_t kMostRepeated = 16;

/// The first list of texts in a value: itself, its first item, or the `items` of fastai's L.
const Pickle::Value* list_of_texts(const Pickle& pickle, Ref ref, int depth = 0) {
  const auto& value = pickle.at(ref);
  const auto items = pickle.items(value);
  if (depth == kDeepest) return nullptr;
  if (value.kind == Kind::list || value.kind == Kind::tuple) {
    if (items.empty()) return nullptr;
    if (pickle.at(items[0]).kind == Kind::text) return &value;
    return list_of_texts(pickle, items[0], depth + 1);
  }
  if (value.kind == Kind::made && items.size() > 2)
    return list_of_texts(pickle, items[2], depth + 1);
  const auto entries = pickle.entries(value);
  for (std::size_t i = 0; i + 1 < entries.size(); i += 2)
    if (pickle.at(entries[i]).kind == Kind::text && pickle.at(entries[i]).text == "items")
      return list_of_texts(pickle, entries[i + 1], depth + 1);
  return nullptr;
}

std::vector<std::string> words_of_pickle(const std::string& bytes, const std::string& path) {
  std::size_t used = 0;
  const auto pickle =
      read_pickle({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, path, used);
  if (const auto calls = dangerous_calls(pickle); !calls.empty())
    refuse_words(path, "asks for a call of '" + calls.front() +
                           "', which no list of words needs: do not trust the file");
  const auto* list = list_of_texts(pickle, pickle.root_ref());
  if (list == nullptr) refuse_words(path, "holds no list of texts");
  std::vector<std::string> words;
  std::size_t letters = 0;
  for (const auto ref : pickle.items(*list)) {
    const auto& word = pickle.at(ref);
    if (word.kind != Kind::text)
      refuse_words(path, fmt::format("item {} of its list is no text", words.size()));
    letters += word.text.size();
    if (letters > kMostRepeated * bytes.size()) refuse_words(path, "repeats a long text");
    words.emplace_back(word.text);
  }
  return words;
}

std::vector<std::string> words_of_json(const std::string& text, const std::string& path) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::vector<std::string> words;
  if (!json.is_array() || json.empty()) refuse_words(path, "is no JSON list");
  for (const auto& word : json) {
    if (!word.is_string())
      refuse_words(path, fmt::format("item {} of its list is no text", words.size()));
    words.push_back(word.get<std::string>());
  }
  return words;
}

}  // namespace

std::vector<std::string> read_words(const std::string& path) {
  const auto content = read_text(path);
  return lower(path).ends_with(".json") ? words_of_json(content, path)
                                        : words_of_pickle(content, path);
}

}  // namespace ddptrain
