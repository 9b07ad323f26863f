// `show RECIPE... [key=value...]`: the recipe after layering, and who set what.
#include <cstdio>

#include "base/error.h"
#include "base/text.h"
#include "cli/problems.h"
#include "cli/program.h"
#include "config/complete.h"
#include "config/encode.h"
#include "recipe/address.h"
#include "recipe/load.h"

namespace ddptrain {
namespace {

std::string one_line(const Node& value) {
  auto text = to_yaml(Node::list({value}));
  text = std::string(trim(text.substr(2)));
  for (auto at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
    text.insert(at + 1, "    ");
  return text;
}

std::string place_text(const Place& place) {
  auto text = place.file + ":" + std::to_string(place.line);
  return place.column > 0 ? text + ":" + std::to_string(place.column) : text;
}

/// Each layer that set the key, strongest first, and its default.
int why(const Loaded& loaded, const std::string& key, const Catalogs& catalogs) {
  const auto address = read_address(key);
  if (!address) throw Error(Exit::recipe, "--why: '" + key + "' is not a key such as optimizer.lr");
  auto fresh = loaded.recipe;
  const auto full = encode(fresh, &catalogs);
  const auto* now = find_at(full, *address);
  if (!now) throw Error(Exit::recipe, "--why: this recipe has no '" + key + "'");
  std::printf("%s: %s\n", key.c_str(), one_line(*now).c_str());
  int set = 0;
  for (auto layer = loaded.layers.rbegin(); layer != loaded.layers.rend(); ++layer)
    if (const auto* value = find_at(*layer, *address)) {
      std::printf("  %s: %s\n", place_text(value->place).c_str(), one_line(*value).c_str());
      ++set;
    }
  if (set == 0) std::printf("  the default; no layer sets it\n");
  return 0;
}

int show(const Arguments& arguments) {
  const auto words = split_words(arguments.words);
  if (words.files.empty())
    throw Error(Exit::recipe, "usage: ddptrain show RECIPE... [key=value...]");
  auto loaded = load_recipe(words.files, words.overrides, *arguments.program->catalogs);
  if (say_problems(loaded.problems)) return static_cast<int>(Exit::recipe);
  if (arguments.has("--why"))
    return why(loaded, arguments.value("--why"), *arguments.program->catalogs);
  auto tree = loaded.tree;
  if (arguments.has("--full")) tree = encode(loaded.recipe, arguments.program->catalogs);
  if (arguments.has("--minimal"))
    tree = without_defaults(tree, shape_of<Recipe>(), *arguments.program->catalogs);
  std::fputs(to_yaml(tree).c_str(), stdout);
  return 0;
}

}  // namespace

Verb show_verb() {
  return {.name = "show",
          .usage = "RECIPE... [key=value...]",
          .summary = "the recipe after layering",
          .flags = {{"--full", "", "with every default"},
                    {"--minimal", "", "without what equals a default"},
                    {"--why", "KEY", "each layer that set the key, strongest first"}},
          .min_words = 1,
          .run = show};
}

}  // namespace ddptrain
