// `help --man`: ddptrain(1).
#include <fmt/format.h>

#include "cli/documents/documents.h"

namespace ddptrain {
namespace {

/// Text that roff leaves as it is.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\'')
      out += "\\(aq";
    else
      out += c;
  }
  return out.starts_with('.') ? "\\&" + out : out;
}

std::string section(const std::string& title) { return fmt::format(".SH {}\n", title); }

std::string entry(const std::string& term, std::string_view text) {
  return fmt::format(".TP\n.B {}\n{}\n", escaped(term), escaped(text));
}

std::string flag_text(const Flag& flag) {
  return entry(std::string(flag.name) + (flag.value.empty() ? "" : " " + std::string(flag.value)),
               flag.doc);
}

std::string verb_text(const Verb& verb) {
  auto text = fmt::format(".SS {}\n{}\n",
                          escaped("ddptrain " + std::string(verb.name) +
                                  (verb.usage.empty() ? "" : " " + std::string(verb.usage))),
                          escaped(verb.summary));
  for (const auto& flag : verb.flags) text += flag_text(flag);
  return text;
}

std::string common_flags() {
  std::string text;
  for (const auto& flag : all_flags({})) text += flag_text(flag);
  return text;
}

constexpr const char* kDescription =
    "Trains deep-learning models from a YAML recipe, on one CPU or many GPUs.\n"
    "A recipe may extend others; behind recipes, words change it:\n"
    ".BR key=value \" sets, \" key+=value \" adds to a list, \" ~key \" removes.\"\n"
    "Keys are dotted; items of lists stand in brackets, by position or by type:\n"
    ".BR data.transforms.train[normalize].preset=imagenet .\n";

/// Exit codes (base/error.h).
std::string exit_codes() {
  return entry("0", "done; diff: equal") + entry("1", "diff: different") +
         entry("2", "the recipe or the command line is wrong") +
         entry("3", "data: missing, corrupt, unreadable, or the disk is full") +
         entry("4", "device or communication, a peer died") +
         entry("5", "the loss or a gradient is not finite") +
         entry("6", "a metric falls short of expect") + entry("7", "out of memory") +
         entry("70", "a bug in ddptrain") + entry("124", "a rank hung") +
         entry("128+n", "ended by signal n, after saving where it could");
}

}  // namespace

std::string manual_text(const Program& program) {
  std::string text = fmt::format(
      ".\\\" Made by 'ddptrain help --man'.\n"
      ".TH DDPTRAIN 1 \"\" ddptrain \"User Commands\"\n"
      "{}ddptrain \\- train deep\\-learning models from a YAML recipe\n"
      "{}.B ddptrain\n"
      ".I VERB\n"
      "[words and flags]\n"
      "{}{}{}",
      section("NAME"), section("SYNOPSIS"), section("DESCRIPTION"), kDescription, section("VERBS"));
  for (const auto& verb : program.verbs) text += verb_text(verb);
  text += section("FLAGS OF EVERY VERB") + common_flags();
  text += section("EXIT STATUS") + exit_codes();
  text += section("ENVIRONMENT") + entry("NO_COLOR", "no colors unless a flag asks for them");
  text +=
      section("EXAMPLES") +
      entry("ddptrain init photos", "writes photos.yaml, a recipe for the images in that folder") +
      entry("ddptrain init shapes", "writes shapes.yaml, a recipe to begin with") +
      entry("ddptrain validate shapes.yaml", "checks it without starting anything") +
      entry("ddptrain run shapes.yaml optimizer.lr=0.01", "trains, with one value changed") +
      entry("ddptrain show shapes.yaml --why optimizer.lr", "says which layer set a key");
  return text;
}

}  // namespace ddptrain
