// `show RECIPE... [key=value...]`: the recipe after layering, and who set what.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "base/error.h"
#include "base/output/print.h"
#include "base/text.h"
#include "cli/problems.h"
#include "cli/program.h"
#include "cli/verb.h"
#include "config/complete.h"
#include "config/encode.h"
#include "config/option_text.h"
#include "recipe/layers/history.h"
#include "recipe/layers/option.h"
#include "recipe/layers/record.h"
#include "recipe/layers/splits.h"
#include "recipe/load/load.h"
#include "recipe/load/origins.h"

namespace ddptrain {
namespace {

[[noreturn]] void refuse(const std::string& key, const Node& tree) {
  const auto near = nearest_key(key, addresses_of(tree));
  throw Error(Exit::recipe, "--why: this recipe has no '{}'{}", key,
              did_you_mean(near, "; 'ddptrain show --full' shows what it has"));
}

std::string event_text(const Event& event, const std::vector<std::string>& overrides) {
  const auto& place = event.place;
  auto where = origin_of(place, overrides);
  if (place.file != "command line" && place.column > 0) where += fmt::format(":{}", place.column);
  return fmt::format("  {}: {}\n", where,
                     event.kind == Event::Kind::set ? to_flow(event.value) : event.reason);
}

std::string option_text(const Shape& option, bool is_set) {
  auto text = is_set ? default_text(option) : "the default; no layer sets it";
  if (text == "required") text = "no default: required";
  if (text.starts_with("default ")) text.insert(7, ":");
  if (!text.empty()) text = fmt::format("  {}\n", text);
  return fmt::format("{}  {} is {}{}\n", text, option.key, type_text(option),
                     option.doc.empty() ? "" : ": " + option.doc);
}

/// Each layer that set the key or took it away, strongest first, then the default and what the
/// option is. A key that the recipe cannot have is an Error with what was meant.
std::string why_text(const Loaded& loaded, const RecipeWords& words, const std::string& key,
                     const Catalogs& catalogs) {
  const auto address = read_address(key);
  if (!address) throw Error(Exit::recipe, "--why: '{}' is not a key such as optimizer.lr", key);
  const auto tree = completed(loaded, catalogs);
  const auto events = history_of(*address, words.files, words.overrides);
  const auto* now = find_at(tree, *address);
  if (!now && events.empty()) refuse(key, tree);
  auto text = fmt::format("{}: {}\n", key, now ? to_flow(*now) : "not in this recipe");
  for (auto event = events.rbegin(); event != events.rend(); ++event)
    text += event_text(*event, words.overrides);
  const auto* option = find_option(*address, tree, catalogs);
  if (option && !option->key.empty()) return text + option_text(*option, !events.empty());
  return text + (events.empty() ? "  the default; no layer sets it\n" : "");
}

/// The recipe as the flags want it.
std::string recipe_text(const Loaded& loaded, const Arguments& arguments,
                        const std::vector<std::string>& overrides) {
  const auto& catalogs = *arguments.program->catalogs;
  auto tree = completed(loaded, catalogs);
  if (arguments.has("--full")) {
    note_origins(tree, overrides);
    return to_yaml(tree, Comments::in_column);
  }
  if (arguments.has("--minimal")) {
    auto minimal = without_defaults(tree, recipe_shape(), catalogs);
    shorten_splits(minimal, tree);
    return to_yaml(minimal);
  }
  tree = loaded.tree;
  hide_secrets(tree);
  return to_yaml(tree);
}

int show(const Arguments& arguments) {
  const auto words = split_words(arguments.words);
  if (arguments.flags.count("--full") + arguments.flags.count("--minimal") +
          arguments.flags.count("--why") >
      1)
    throw Error(Exit::recipe, "--full, --minimal and --why exclude each other");
  if (arguments.has("--why") && std::count(words.files.begin(), words.files.end(), "-") > 0)
    throw Error(Exit::recipe, "--why reads a recipe twice; name a file instead of '-'");
  const auto loaded = load_recipe(words.files, words.overrides, *arguments.program->catalogs);
  if (say_problems(loaded.problems)) return static_cast<int>(Exit::recipe);
  const auto text = arguments.has("--why") ? why_text(loaded, words, arguments.value("--why"),
                                                      *arguments.program->catalogs)
                                           : recipe_text(loaded, arguments, words.overrides);
  print_lines(text);
  return 0;
}

}  // namespace

Verb show_verb() {
  return {.name = "show",
          .usage = "RECIPE... [key=value...]",
          .summary = "the recipe after layering",
          .flags = {{"--full", "", "with every default, and where each value came from"},
                    {"--minimal", "", "without what equals a default"},
                    {"--why", "KEY", "each layer that set the key, strongest first"}},
          .min_files = 1,
          .run = show};
}

}  // namespace ddptrain
