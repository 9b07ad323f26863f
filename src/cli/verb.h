// What the command line is made of: verbs with their words and flags.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/output/log.h"

namespace ddptrain {

struct Program;  // cli/program.h

/// A flag of a verb: "--level rules". `value` names what follows it ("FILE"), lists a closed set of
/// words ("auto|always|never", of which the first is the default), and is empty for a switch.
struct Flag {
  std::string_view name;
  std::string_view value;
  std::string_view doc;
};

/// The words of a closed set such as "auto|always|never"; none of other text.
std::vector<std::string> closed_words(std::string_view text);

/// A verb's words and flags as given, already checked against what the verb knows.
struct Arguments {
  std::vector<std::string> words;
  std::map<std::string, std::string, std::less<>> flags;
  log::Level level = log::Level::normal;
  std::vector<std::string> command_line;  // as typed, program first
  const Program* program = nullptr;       // whose verb is called

  bool has(std::string_view flag) const { return flags.find(flag) != flags.end(); }
  std::string value(std::string_view flag, std::string_view otherwise = {}) const;
  /// The position of the word that was given, in the flag's closed set; 0 where none was.
  std::size_t chosen(const Flag& flag) const;
};

/// `run` returns the exit code; Errors are thrown. At least `min_words` must be given and at most
/// `max_words`; of them at least `min_files` that are not key=value.
struct Verb {
  std::string_view name;
  std::string_view usage;    // "RECIPE... [key=value...]", or a closed set: "bash|zsh|fish"
  std::string_view summary;  // one line
  std::vector<Flag> flags;
  std::size_t min_files = 0;
  std::size_t min_words = 0;
  std::size_t max_words = 1000;
  int (*run)(const Arguments&) = nullptr;
};

/// The verb's own flags, then those of every verb.
std::vector<Flag> all_flags(const Verb& verb);

/// Reads what follows the verb's name. A wrong flag, a word outside of a closed set or a wrong
/// number of words is an Error (Exit::recipe) with what was meant.
Arguments read_arguments(const Verb& verb, const std::vector<std::string>& given);

/// Recipe files and `key=value`, `~key`, `key+=value` words, apart.
struct RecipeWords {
  std::vector<std::string> files;
  std::vector<std::string> overrides;
};
RecipeWords split_words(const std::vector<std::string>& words);

}  // namespace ddptrain
