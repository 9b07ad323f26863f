// `schema`: the JSON Schema of a recipe.
#include "config/schema.h"

#include <cstdio>

#include "cli/verb.h"
#include "recipe/recipe.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

int schema(const Arguments&) {
  std::fputs(json_schema(shape_of<Recipe>(), all_catalogs()).c_str(), stdout);
  return 0;
}

}  // namespace

Verb schema_verb() {
  return {.name = "schema",
          .usage = "",
          .summary = "the JSON Schema of a recipe, for editors",
          .flags = {},
          .max_words = 0,
          .run = schema};
}

}  // namespace ddptrain
