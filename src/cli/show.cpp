// `show RECIPE... [key=value...]`: the recipe after layering, and who set what.
#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/output/print.h"
#include "cli/problems.h"
#include "cli/program.h"
#include "cli/why.h"
#include "config/complete.h"
#include "config/encode.h"
#include "recipe/layers/option.h"
#include "recipe/layers/record.h"
#include "recipe/load/load.h"
#include "recipe/load/origins.h"

namespace ddptrain {
namespace {

/// The recipe as the flags want it.
std::string recipe_text(const Loaded& loaded, const Arguments& arguments,
                        const std::vector<std::string>& overrides) {
  const auto& catalogs = *arguments.program->catalogs;
  auto tree = completed(loaded, catalogs);
  if (arguments.has("--full")) {
    note_origins(tree, overrides);
    return to_yaml(tree, Comments::in_column);
  }
  if (arguments.has("--minimal")) return to_yaml(without_defaults(tree, recipe_shape(), catalogs));
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
