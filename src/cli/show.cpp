// `show RECIPE... [key=value...]`: the recipe after layering.
#include <cstdio>

#include "base/error.h"
#include "cli/verb.h"
#include "config/encode.h"
#include "recipe/load.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

int show(const Arguments& arguments) {
  const auto words = split_words(arguments.words);
  if (words.files.empty())
    throw Error(Exit::recipe, "usage: ddptrain show RECIPE... [key=value...]");
  auto loaded = load_recipe(words.files, words.overrides, all_catalogs());
  if (!loaded.problems.empty()) std::fputs(render(loaded.problems).c_str(), stderr);
  if (has_errors(loaded.problems)) return static_cast<int>(Exit::recipe);
  const auto tree = arguments.has("--full") ? encode(loaded.recipe, &all_catalogs()) : loaded.tree;
  std::fputs(to_yaml(tree).c_str(), stdout);
  return 0;
}

}  // namespace

Verb show_verb() {
  return {.name = "show",
          .usage = "RECIPE... [key=value...]",
          .summary = "the recipe after layering",
          .flags = {{"--full", "", "with every default"}},
          .min_words = 1,
          .run = show};
}

}  // namespace ddptrain
