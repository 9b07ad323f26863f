// `help [VERB]`, `help error [ID]`
#include "base/error.h"
#include "base/output/print.h"
#include "cli/documents/documents.h"
#include "cli/foreign_verbs.h"
#include "cli/program.h"

namespace ddptrain {
namespace {

std::string text_of_errors(const Arguments& arguments) {
  if (arguments.words.size() > 1) return error_text(arguments.words[1]);
  return arguments.has("--markdown") ? error_page() : error_list();
}

std::string text_of(const Arguments& arguments) {
  const auto& words = arguments.words;
  if (arguments.has("--man") && words.empty()) return manual_text(*arguments.program);
  const bool errors = !words.empty() && words[0] == "error";
  if (errors && !(words.size() > 1 && arguments.has("--markdown")))
    return text_of_errors(arguments);
  if (words.size() > 1 || arguments.has("--markdown"))
    throw Error(Exit::recipe,
                "usage: ddptrain help [VERB], help error [ID], help error --markdown");
  if (words.empty()) return help_text(*arguments.program);
  const auto* verb = arguments.program->find(words[0]);
  if (!verb) throw Error(Exit::recipe, no_such_verb(words[0], arguments.program->verbs));
  return help_text(*verb);
}

int help(const Arguments& arguments) { return print_lines(text_of(arguments)), 0; }

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
  return text +
         "\n'ddptrain VERB --help' explains a verb, 'ddptrain help error' the kinds of problem.\n";
}

Verb help_verb() {
  return {.name = "help",
          .usage = "[VERB | error [ID]]",
          .summary = "explain the program, a verb, or a kind of problem",
          .flags = {{"--markdown", "", "all kinds of problem as docs/problems.md has them"},
                    {"--man", "", "the man page, ddptrain(1): docs/ddptrain.1"}},
          .max_words = 2,
          .run = help};
}

}  // namespace ddptrain
