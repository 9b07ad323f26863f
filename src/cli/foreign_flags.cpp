#include "cli/foreign_flags.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/quoting.h"
#include "base/text.h"
#include "config/check/hints.h"
#include "config/suggest.h"
#include "recipe/layers/option.h"

namespace ddptrain {
namespace {

/// "--batch-size" -> "batch_size".
std::string key_of(const std::string& flag) {
  auto key = flag.substr(std::min(flag.find_first_not_of('-'), flag.size()));
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

/// The text between the `n`-th pair of quotes, from 0.
std::string quoted(const std::string& text, std::size_t n) {
  const auto parts = split(text, '\'');
  return parts.size() > 2 * n + 2 ? parts[2 * n + 1] : std::string();
}

/// An option's path here, and a value that it may have, if another tool's key is known.
struct OptionMeant {
  std::string path;
  std::string example{};
};

/// Of several places of a key the shallowest, where it is the only one there.
std::string shallowest(const std::string& key, const Homes& homes) {
  std::string found;
  std::ptrdiff_t depth = 99;
  for (const auto& [distance, home] : homes.near(key, 0)) {
    const auto path = home->path();
    const bool of_part = home->shape->kind == Shape::Kind::record && home->shape->shorthand.empty();
    if (home->in_list() || of_part || path.substr(path.rfind('.') + 1) != key) continue;
    const auto steps = std::count(path.begin(), path.end(), '.');
    if (steps == depth && path != found) found.clear();
    if (steps < depth) found = path;
    depth = std::min(depth, steps);
  }
  return found;
}

bool is_path(const std::string& key, const Homes& homes) {
  const auto last = key.substr(key.rfind('.') + 1);
  const auto places = homes.near(last, 0);
  return std::any_of(places.begin(), places.end(),
                     [&](const auto& place) { return place.second->path() == key; });
}

OptionMeant option_meant(const std::string& key, const Catalogs& catalogs) {
  if (key == "batch") return {"batch.global"};  // our section of that name is no number
  const Homes homes(recipe_shape(), catalogs);
  if (key.find('.') != std::string::npos && is_path(key, homes)) return {key};
  if (const auto hint = foreign_key_hint(key); !hint.empty()) {
    if (hint.find(" with '") != std::string::npos) return {};  // a component of a list
    const auto example = hint.find(", as in") == std::string::npos ? "" : quoted(hint, 1);
    return {quoted(hint, 0), example};
  }
  return {shallowest(key, homes)};
}

/// "5" as the example has it: "5 epochs".
std::string with_unit(const std::string& value, const std::string& example) {
  const auto blank = example.find(' ');
  const bool counted =
      blank != std::string::npos && parse_number(example.substr(0, blank)) && parse_number(value);
  return counted ? value + example.substr(blank) : value;
}

/// How a flag is written as an option of a recipe; empty where it names none. `value` is what
/// follows it, if anything does.
std::string as_option(const std::string& flag, const std::optional<std::string>& value,
                      const Catalogs& catalogs) {
  const auto key = key_of(flag);
  if (key.size() < 2) return {};
  const auto option = option_meant(key, catalogs);
  if (option.path.empty() || option.path == "extends") return {};
  const auto written = value ? with_unit(*value, option.example) : option.example;
  return option.path + "=" + (written.empty() ? "VALUE" : shell_word(written));
}

bool begins_as_flag(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

/// What is given behind the flag at `at`, unless that is another flag, an override or a file.
std::optional<std::string> value_behind(const std::vector<std::string>& words, std::size_t at) {
  const auto equals = words[at].find('=');
  if (equals != std::string::npos) return words[at].substr(equals + 1);
  if (at + 1 == words.size()) return {};
  const auto& next = words[at + 1];
  const bool other = begins_as_flag(next) || next.find_first_of("=/") != std::string::npos ||
                     next.ends_with(".yaml") || next.ends_with(".yml");
  return other ? std::nullopt : std::optional(next);
}

bool is_slip(const std::string& name, const std::vector<Flag>& flags) {
  return std::any_of(flags.begin(), flags.end(), [&](const Flag& flag) {
    return edit_distance(name, flag.name) <= 1 && flag.name.size() > 2;
  });
}

}  // namespace

void refuse_options_as_flags(const Verb& verb, const std::vector<std::string>& words,
                             const Catalogs& catalogs) {
  if (verb.usage.find("key=value") == std::string_view::npos) return;
  const auto flags = all_flags(verb);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!begins_as_flag(words[i])) continue;
    const auto name = words[i].substr(0, words[i].find('='));
    const auto known = std::find_if(flags.begin(), flags.end(),
                                    [&](const Flag& flag) { return flag.name == name; });
    if (known != flags.end()) {
      i += !known->value.empty() && name == words[i];  // its value
      continue;
    }
    const auto option =
        is_slip(name, flags) ? "" : as_option(name, value_behind(words, i), catalogs);
    if (!option.empty())
      throw Error(Exit::recipe,
                  "'{}' has no flag '{}'; options of a recipe are written without dashes: {}",
                  verb.name, name, option);
  }
}

}  // namespace ddptrain
