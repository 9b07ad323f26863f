// `migrate FILE...`: keys by their former names get their present ones; nothing else changes.
#include <cstdio>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/color.h"
#include "base/output/print.h"
#include "base/text.h"
#include "cli/program.h"
#include "config/rename.h"
#include "config/yaml/reader.h"
#include "recipe/recipe.h"

namespace ddptrain {
namespace {

/// A text after its keys were renamed; the same where there was nothing to do.
struct Migrated {
  std::string before;
  std::string after;
  Problems problems;
};

Migrated migrated(const std::string& file, const Catalogs& catalogs) {
  Migrated result;
  result.before = read_text(file);
  auto read = read_yaml(result.before, file);
  result.problems = std::move(read.problems);
  result.after = result.before;
  if (has_errors(result.problems)) return result;
  auto renamed = rename_keys(read.tree, shape_of<Recipe>(), catalogs, result.problems);
  result.after = rename_in_text(result.before, std::move(renamed));
  return result;
}

/// Keys change within their lines, so a unified difference without context is this short.
void print_difference(const std::string& file, const Migrated& text) {
  const auto before = split(text.before, '\n'), after = split(text.after, '\n');
  print_shown("--- %s\n+++ %s\n", file.c_str(), file.c_str());
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i] != after[i])
      print_shown("@@ -%zu +%zu @@\n-%s\n+%s\n", i + 1, i + 1, before[i].c_str(), after[i].c_str());
}

int migrate(const Arguments& arguments) {
  Problems all;
  for (const auto& file : arguments.words) {
    const auto text = migrated(file, *arguments.program->catalogs);
    all.insert(all.end(), text.problems.begin(), text.problems.end());
    if (has_errors(text.problems)) continue;
    if (text.before == text.after)
      log::info("{}: every key has its present name", file);
    else if (arguments.has("--write"))
      write_atomically(file, text.after);
    else
      print_difference(file, text);
  }
  if (!all.empty()) print_problems(render(all), stderr);
  return static_cast<int>(has_errors(all) ? Exit::recipe : Exit::done);
}

}  // namespace

Verb migrate_verb() {
  return {.name = "migrate",
          .usage = "FILE...",
          .summary = "show which keys have new names",
          .flags = {{"--write", "", "write the new names into the files; all else stays as it is"}},
          .min_words = 1,
          .run = migrate};
}

}  // namespace ddptrain
