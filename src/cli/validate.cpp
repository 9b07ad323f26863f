// `validate RECIPE...`: checks without starting anything; no file but the recipes is touched.
#include <cstdio>

#include "base/error.h"
#include "base/text.h"
#include "cli/program.h"
#include "recipe/load.h"

namespace ddptrain {
namespace {

// `--devices 1,2,4`: does the batch arithmetic work for each?
void check_devices(const Loaded& loaded, const std::string& list, Problems& problems) {
  for (const auto& word : split(list, ',')) {
    const auto devices = parse_integer(trim(word));
    if (!devices || *devices < 1)
      throw Error(Exit::recipe,
                  "--devices: '" + word + "' is not a number of devices; write for example 1,2,4");
    const auto found = check_batch(loaded.recipe, loaded.tree, *devices);
    problems.insert(problems.end(), found.begin(), found.end());
  }
}

int validate(const Arguments& arguments) {
  const auto words = split_words(arguments.words);
  if (words.files.empty())
    throw Error(Exit::recipe, "usage: ddptrain validate RECIPE... [key=value...]");
  Problems all;
  for (const auto& file : words.files) {
    auto loaded = load_recipe({file}, words.overrides, *arguments.program->catalogs);
    if (arguments.has("--devices") && !has_errors(loaded.problems))
      check_devices(loaded, arguments.value("--devices"), loaded.problems);
    if (loaded.problems.empty() && arguments.level != log::Level::quiet)
      std::printf("%s: good\n", file.c_str());
    all.insert(all.end(), loaded.problems.begin(), loaded.problems.end());
  }
  if (!all.empty()) std::fputs(render(all).c_str(), stderr);
  return static_cast<int>(has_errors(all) ? Exit::recipe : Exit::done);
}

}  // namespace

Verb validate_verb() {
  return {.name = "validate",
          .usage = "RECIPE... [key=value...]",
          .summary = "check recipes, each by itself, without starting anything",
          .flags = {{"--devices", "LIST",
                     "check the batch arithmetic for these numbers of devices: 1,2,4"}},
          .min_words = 1,
          .run = validate};
}

}  // namespace ddptrain
