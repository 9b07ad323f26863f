// `version`
#include "base/version.h"

#include "base/output/print.h"
#include "cli/program.h"

namespace ddptrain {
namespace {

int print_version(const Arguments& arguments) {
  const auto& program = *arguments.program;
  const bool trains = !program.has_engine || program.has_engine();
  print_shown("ddptrain %s %s\n", version().c_str(),
              trains ? ("with torch " + torch_version()).c_str()
                     : "without its engine, to read recipes and run folders");
  return 0;
}

}  // namespace

Verb version_verb() {
  return {.name = "version",
          .usage = "",
          .summary = "what was built, from what",
          .flags = {},
          .max_words = 0,
          .run = print_version};
}

}  // namespace ddptrain
