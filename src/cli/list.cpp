// `list [KIND]`: what recipes can name.
#include <cstdio>

#include "base/error.h"
#include "base/text.h"
#include "cli/verb.h"
#include "train/catalogs.h"

namespace ddptrain {

const CatalogBase& find_catalog(const std::string& kind) {
  const auto found = all_catalogs().find(kind);
  if (found != all_catalogs().end()) return *found->second;
  std::vector<std::string> kinds;
  for (const auto& [name, unused] : all_catalogs()) kinds.push_back(name);
  const auto near = nearest(kind, kinds);
  throw Error(Exit::recipe, "'" + kind + "' is not a kind of component; " +
                                (near.empty() ? "there are " + join(kinds, ", ")
                                              : "did you mean '" + near + "'?"));
}

namespace {

void print_kind(const CatalogBase& catalog) {
  for (std::size_t i = 0; i < catalog.size(); ++i) {
    auto name = catalog.at(i).name;
    name.resize(std::max<std::size_t>(name.size() + 1, 22), ' ');
    std::printf("  %s%s\n", name.c_str(), catalog.at(i).doc.c_str());
  }
}

int list(const Arguments& arguments) {
  if (!arguments.words.empty()) return print_kind(find_catalog(arguments.words[0])), 0;
  for (const auto& [kind, catalog] : all_catalogs()) {
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
