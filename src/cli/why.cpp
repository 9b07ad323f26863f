#include "cli/why.h"

#include "base/error.h"
#include "base/text.h"
#include "config/encode.h"
#include "config/option_text.h"
#include "recipe/layers/history.h"
#include "recipe/layers/option.h"
#include "recipe/load/origins.h"

namespace ddptrain {
namespace {

[[noreturn]] void refuse(const std::string& key, const Node& tree) {
  const auto near = nearest_key(key, addresses_of(tree));
  throw Error(Exit::recipe, "--why: this recipe has no '" + key + "'" +
                                did_you_mean(near, "; 'ddptrain show --full' shows what it has"));
}

std::string event_text(const Event& event, const std::vector<std::string>& overrides) {
  const auto& place = event.place;
  auto where = origin_of(place, overrides);
  if (place.file != "command line" && place.column > 0) where += ":" + std::to_string(place.column);
  return "  " + where + ": " +
         (event.kind == Event::Kind::set ? to_flow(event.value) : event.reason) + "\n";
}

std::string option_text(const Shape& option, bool is_set) {
  auto text = is_set ? default_text(option) : "the default; no layer sets it";
  if (text == "required") text = "no default: required";
  if (text.starts_with("default ")) text.insert(7, ":");
  if (!text.empty()) text = "  " + text + "\n";
  return text + "  " + option.key + " is " + type_text(option) +
         (option.doc.empty() ? "" : ": " + option.doc) + "\n";
}

}  // namespace

std::string why_text(const Loaded& loaded, const RecipeWords& words, const std::string& key,
                     const Catalogs& catalogs) {
  const auto address = read_address(key);
  if (!address) throw Error(Exit::recipe, "--why: '" + key + "' is not a key such as optimizer.lr");
  const auto tree = completed(loaded, catalogs);
  const auto events = history_of(*address, words.files, words.overrides);
  const auto* now = find_at(tree, *address);
  if (!now && events.empty()) refuse(key, tree);
  auto text = key + ": " + (now ? to_flow(*now) : "not in this recipe") + "\n";
  for (auto event = events.rbegin(); event != events.rend(); ++event)
    text += event_text(*event, words.overrides);
  const auto* option = find_option(*address, tree, catalogs);
  if (option && !option->key.empty()) return text + option_text(*option, !events.empty());
  return text + (events.empty() ? "  the default; no layer sets it\n" : "");
}

}  // namespace ddptrain
