// `schema`: the JSON Schema of a recipe.
#include "config/schema/schema.h"

#include "base/output/print.h"
#include "cli/documents/components.h"
#include "cli/documents/documents.h"
#include "cli/program.h"
#include "config/shape.h"
#include "recipe/recipe.h"

namespace ddptrain {
namespace {

int schema(const Arguments& arguments) {
  add_given_plugin(arguments);
  const auto& program = *arguments.program;
  if (arguments.has("--components")) {
    if (program.in_engine) return program.in_engine(arguments, "'schema --components'");
    return print_exact(components_text(program)), 0;
  }
  if (arguments.has("--reference")) return print_exact(reference_text(*program.catalogs)), 0;
  print_exact(program.schema.empty() || arguments.has(kPlugin.name)
                  ? json_schema(shape_of<Recipe>(), *program.catalogs)
                  : std::string(program.schema));
  return 0;
}

}  // namespace

Verb schema_verb() {
  return {.name = "schema",
          .usage = "",
          .summary = "the JSON Schema of a recipe, for editors",
          .flags = {{"--components", "",
                     "verbs and components as the engine has them: schemas/components.json"},
                    {"--reference", "", "every key and component as Markdown: docs/reference.md"},
                    kPlugin},
          .max_words = 0,
          .run = schema};
}

}  // namespace ddptrain
