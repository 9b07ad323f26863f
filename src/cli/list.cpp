// `list [KIND]`: what recipes can name.
#include <cstdio>

#include "cli/program.h"

namespace ddptrain {

namespace {

void print_kind(const CatalogBase& catalog) {
  for (std::size_t i = 0; i < catalog.size(); ++i) {
    auto name = catalog.at(i).name;
    name.resize(std::max<std::size_t>(name.size() + 1, 22), ' ');
    std::printf("  %s%s\n", name.c_str(), catalog.at(i).doc.c_str());
  }
}

int list(const Arguments& arguments) {
  if (!arguments.words.empty())
    return print_kind(arguments.program->catalog(arguments.words[0])), 0;
  for (const auto& [kind, catalog] : *arguments.program->catalogs) {
    std::printf("%s\n", kind.c_str());
    print_kind(*catalog);
  }
  return 0;
}

}  // namespace

Verb list_verb() {
  return {.name = "list",
          .usage = "[KIND]",
          .summary = "the components that recipes can name",
          .flags = {},
          .max_words = 1,
          .run = list};
}

}  // namespace ddptrain
