#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/output/terminal.h"
#include "base/text.h"
#include "base/url.h"
#include "cli/program.h"

namespace ddptrain {
namespace {

constexpr Flag kColor{"--color", "auto|always|never", "colored messages; NO_COLOR counts too"};
constexpr Flag kCommon[] = {{"--help", "", "explain this verb"},
                            {"-h", "", "the same"},
                            {"-q", "", "say only warnings and errors"},
                            {"-v", "", "say more, such as which samples each step trains on"},
                            kColor};

const Flag* find_flag(const Verb& verb, std::string_view name) {
  const auto matches = [&](const Flag& flag) { return flag.name == name; };
  const auto own = std::find_if(verb.flags.begin(), verb.flags.end(), matches);
  if (own != verb.flags.end()) return &*own;
  const auto common = std::find_if(std::begin(kCommon), std::end(kCommon), matches);
  return common == std::end(kCommon) ? nullptr : common;
}

[[noreturn]] void refuse_flag(const Verb& verb, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& flag : all_flags(verb)) known.emplace_back(flag.name);
  const auto near = nearest(name, known);
  throw Error(Exit::recipe, "'{}' has no flag '{}'{}", verb.name, name,
              did_you_mean(near, fmt::format("; see 'ddptrain {} --help'", verb.name)));
}

bool is_flag(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

void check_count(const Verb& verb, const std::vector<std::string>& words) {
  const bool few =
      words.size() < verb.min_words || split_words(words).files.size() < verb.min_files;
  if (!few && words.size() <= verb.max_words) return;
  const auto call = "ddptrain " + std::string(verb.name);
  throw Error(Exit::recipe, "usage: {}{}{}; see '{} --help'", call, verb.usage.empty() ? "" : " ",
              verb.usage, call);
}

/// `start`: "--format: ".
void check_word(const std::string& start, const std::string& word,
                const std::vector<std::string>& words) {
  if (words.empty() || std::find(words.begin(), words.end(), word) != words.end()) return;
  throw Error(Exit::recipe, "{}'{}' is not one of {}{}", start, word, join(words, ", "),
              did_you_mean(nearest(word, words)));
}

void check_words(const Verb& verb, const Arguments& arguments) {
  for (const auto& [name, value] : arguments.flags)
    check_word(name + ": ", value, closed_words(find_flag(verb, name)->value));
  check_count(verb, arguments.words);
  for (const auto& word : arguments.words) check_word("", word, closed_words(verb.usage));
}

void apply_common(Arguments& arguments) {
  if (arguments.has("-q")) {
    arguments.level = log::Level::quiet;
    log::hide_status();
  }
  if (arguments.has("-v")) arguments.level = log::Level::verbose;
  if (arguments.has(kColor.name)) log::use_color(static_cast<log::Color>(arguments.chosen(kColor)));
}

}  // namespace

std::string Arguments::value(std::string_view flag, std::string_view otherwise) const {
  const auto found = flags.find(flag);
  return found == flags.end() ? std::string(otherwise) : found->second;
}

std::size_t Arguments::chosen(const Flag& flag) const {
  const auto known = closed_words(flag.value);
  const auto found = std::find(known.begin(), known.end(), value(flag.name));
  return found == known.end() ? 0 : static_cast<std::size_t>(found - known.begin());
}

std::vector<std::string> closed_words(std::string_view text) {
  const auto in_words = [](char c) {
    return c == '|' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  const bool closed =
      text.find('|') != std::string_view::npos && std::all_of(text.begin(), text.end(), in_words);
  return closed ? split(text, '|') : std::vector<std::string>();
}

std::vector<Flag> all_flags(const Verb& verb) {
  auto flags = verb.flags;
  flags.insert(flags.end(), std::begin(kCommon), std::end(kCommon));
  return flags;
}

Arguments read_arguments(const Verb& verb, const std::vector<std::string>& given) {
  Arguments arguments;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (!is_flag(given[i])) {
      arguments.words.push_back(given[i]);
      continue;
    }
    const auto equals = given[i].find('=');
    const auto name = given[i].substr(0, equals);
    const auto* flag = find_flag(verb, name);
    if (!flag) refuse_flag(verb, name);
    std::string value;
    if (flag->value.empty() && equals != std::string::npos)
      throw Error(Exit::recipe, "'{}' takes no value", name);
    if (!flag->value.empty()) {
      if (equals == std::string::npos && i + 1 == given.size())
        throw Error(Exit::recipe, "'{}' needs a value: {} {}", name, name, flag->value);
      value = equals != std::string::npos ? given[i].substr(equals + 1) : given[++i];
    }
    arguments.flags[name] = value;
  }
  if (!arguments.has("--help") && !arguments.has("-h")) check_words(verb, arguments);
  apply_common(arguments);
  return arguments;
}

RecipeWords split_words(const std::vector<std::string>& words) {
  RecipeWords sorted;
  for (const auto& word : words) {
    const bool url = !url_scheme(word).empty();  // which may have a query, ?raw=true
    const bool override_word =
        word.starts_with('~') || (!url && word.find('=') != std::string::npos);
    (override_word ? sorted.overrides : sorted.files).push_back(word);
  }
  return sorted;
}

std::string help_text(const Verb& verb) {
  std::string text = fmt::format("ddptrain {} {}\n\n  {}\n\n", verb.name, verb.usage, verb.summary);
  const auto line = [&](const Flag& flag) {
    auto name = std::string(flag.name) + (flag.value.empty() ? "" : " " + std::string(flag.value));
    name.resize(std::max<std::size_t>(name.size() + 2, 24), ' ');
    text += fmt::format("  {}{}\n", name, flag.doc);
  };
  for (const auto& flag : all_flags(verb)) line(flag);
  return text;
}

}  // namespace ddptrain
