// `help [VERB]`
#include <cstdio>

#include "base/error.h"
#include "base/text.h"
#include "cli/program.h"

namespace ddptrain {
namespace {

int help(const Arguments& arguments) {
  if (arguments.words.empty()) return std::fputs(help_text(*arguments.program).c_str(), stdout), 0;
  const auto* verb = arguments.program->find(arguments.words[0]);
  if (!verb)
    throw Error(Exit::recipe,
                "ddptrain has no verb '" + arguments.words[0] + "'; see 'ddptrain help'");
  return std::fputs(help_text(*verb).c_str(), stdout), 0;
}

}  // namespace

std::string help_text(const Program& program) {
  std::string text =
      "ddptrain trains deep-learning models from a YAML recipe, on one CPU or many GPUs.\n\n"
      "  ddptrain run configs/quickstart.yaml                      train\n"
      "  ddptrain run configs/quickstart.yaml optimizer.lr=0.1     change one value\n\n";
  for (const auto& verb : program.verbs) {
    std::string name(verb.name);
    name.resize(12, ' ');
    text += "  " + name + std::string(verb.summary) + "\n";
  }
  return text + "\n'ddptrain VERB --help' explains a verb.\n";
}

Verb help_verb() {
  return {.name = "help",
          .usage = "[VERB]",
          .summary = "explain the program or a verb",
          .flags = {},
          .max_words = 1,
          .run = help};
}

}  // namespace ddptrain
