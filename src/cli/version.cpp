// `version`
#include "base/version.h"

#include "base/output/print.h"
#include "cli/verb.h"

namespace ddptrain {
namespace {

int print_version(const Arguments&) {
  const auto torch = torch_version();
  print_shown(
      "ddptrain %s %s\n", version().c_str(),
      torch.empty() ? "without LibTorch, to read recipes" : ("with torch " + torch).c_str());
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
