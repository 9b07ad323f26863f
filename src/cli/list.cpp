// `list [KIND]`: what recipes can name, and `list recipes`.

#include "base/output/print.h"
#include "cli/built_in.h"
#include "cli/program.h"

namespace ddptrain {

namespace {

void print_line(std::string name, const std::string& doc) {
  name.resize(std::max<std::size_t>(name.size() + 1, 22), ' ');
  print_shown("  %s%s\n", name.c_str(), doc.c_str());
}

void print_kind(const CatalogBase& catalog) {
  for (std::size_t i = 0; i < catalog.size(); ++i)
    print_line(catalog.at(i).name, catalog.at(i).doc);
}

void print_recipes() {
  for (const auto& recipe : built_in_recipes())
    print_line(built_in_name(recipe), what_of(recipe.text));
}

int list(const Arguments& arguments) {
  add_given_plugin(arguments);
  if (!arguments.words.empty() && arguments.words[0] == "recipes") return print_recipes(), 0;
  if (!arguments.words.empty())
    return print_kind(arguments.program->catalog(arguments.words[0])), 0;
  for (const auto& [kind, catalog] : *arguments.program->catalogs) {
    print_shown("%s\n", kind.c_str());
    print_kind(*catalog);
  }
  print_shown("recipes\n");
  print_recipes();
  return 0;
}

}  // namespace

Verb list_verb() {
  return {.name = "list",
          .usage = "[KIND | recipes]",
          .summary = "the components that recipes can name, and built-in recipes",
          .flags = {kPlugin},
          .max_words = 1,
          .run = list};
}

}  // namespace ddptrain
