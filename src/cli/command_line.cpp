#include <new>

#include "base/error.h"
#include "base/output/print.h"
#include "cli/foreign_flags.h"
#include "cli/foreign_verbs.h"
#include "cli/program.h"

namespace ddptrain {
namespace {

int say(const Error& error) {
  log::error(error.what(), error.place());
  return static_cast<int>(error.code());
}

int refuse_verb(const Program& program, const std::string& name) {
  log::error(no_such_verb(name, program.verbs));
  return static_cast<int>(Exit::recipe);
}

int run_verb(const Program& program, const Verb& verb,
             const std::vector<std::string>& command_line) {
  const std::vector<std::string> words{command_line.begin() + 2, command_line.end()};
  refuse_options_as_flags(verb, words, *program.catalogs);
  auto arguments = read_arguments(verb, words);
  arguments.command_line = command_line;
  arguments.program = &program;
  if (arguments.has("--help") || arguments.has("-h")) return print_lines(help_text(verb)), 0;
  log::open(arguments.level, 0, "");
  return verb.run(arguments);
}

// The spellings that people try before they know our verbs.
std::string verb_word(const std::vector<std::string>& command_line) {
  if (command_line.size() < 2) return "help";
  const auto& word = command_line[1];
  if (word == "--help" || word == "-h") return "help";
  return word == "--version" ? "version" : word;
}

}  // namespace

int run_command_line(const Program& program, const std::vector<std::string>& command_line) try {
  const auto name = verb_word(command_line);
  const auto* verb = program.find(name);
  if (!verb) return refuse_verb(program, name);
  auto words = command_line;
  if (words.size() < 2) words.resize(2);
  return delivered(run_verb(program, *verb, words));
} catch (const Error& error) {
  return say(error);
} catch (const std::bad_alloc&) {
  return say(
      Error(Exit::memory, "out of memory; a smaller model, batch.micro or eval.batch needs less"));
} catch (const std::exception& error) {
  return say(Error(Exit::bug,
                   std::string("a bug in ddptrain, please report it with the recipe and 'ddptrain "
                               "version': ") +
                       error.what()));
}

}  // namespace ddptrain
