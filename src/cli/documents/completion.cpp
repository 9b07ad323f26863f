// `completion bash|zsh|fish`: a script that completes verbs, flags, recipes, components, keys of
// overrides and the values of closed sets, without calling the program.
#include <algorithm>
#include <cctype>
#include <set>

#include "base/error.h"
#include "base/output/print.h"
#include "base/text.h"
#include "cli/built_in.h"
#include "cli/documents/completion_scripts.h"
#include "cli/program.h"
#include "recipe/layers/option.h"

namespace ddptrain {
namespace {

using Words = std::vector<std::string>;

/// A key that `key=value` can set, and what it takes where that is a closed set.
struct Key {
  std::string name;
  Words values;
  bool operator<(const Key& other) const { return name < other.name; }
};

/// Every key of recipes, those of all components at their places; not into lists.
class Keys {
 public:
  explicit Keys(const Catalogs& catalogs) : catalogs_(catalogs) {}

  void options(const Shape& record, const std::string& prefix) {
    for (const auto& option : record.children) key(option, prefix + option.key);
  }

  std::set<Key> all;

 private:
  void key(const Shape& option, const std::string& name) {
    Words values;
    if (option.kind == Shape::Kind::boolean) values = {"true", "false"};
    if (option.kind == Shape::Kind::word) values = option.words;
    if (option.kind == Shape::Kind::component) values = component(option.component, name);
    for (const auto& word : words_in_place(option)) values.push_back(word);
    if (option.nullable && !values.empty()) values.push_back("null");
    all.insert({name, values});
    if (option.kind == Shape::Kind::record) options(option, name + ".");
  }

  Words component(const std::string& kind, const std::string& name) {
    const auto catalog = catalogs_.find(kind);
    if (catalog == catalogs_.end() || !open_.insert(kind).second) return {};
    std::set<const Shape*> seen;  // of a family all have the same options
    for (std::size_t i = 0; i < catalog->second->size(); ++i)
      if (const auto& shape = catalog->second->at(i).shape(); seen.insert(&shape).second)
        options(shape, name + ".");
    open_.erase(kind);
    all.insert({name + ".type", catalog->second->names()});
    return catalog->second->names();
  }

  const Catalogs& catalogs_;
  std::set<std::string> open_;  // kinds that the key is in
};

bool names_files(std::string_view word) {
  for (const auto* part : {"FILE", "FOLDER", "CHECKPOINT", "INPUT"})
    if (word.find(part) != std::string_view::npos) return true;
  return false;
}

/// What a word of a usage line stands for; empty for another placeholder.
std::string word_class(const std::string& word, bool names_components) {
  if (word == "key=value") return "overrides";
  if (word == "RECIPE" || word == "A" || word == "B") return "recipes";
  if (word == "KIND") return "kinds";
  if (word == "KEY") return "keys";
  if (word == "VERB") return "verbs";
  if (word == "NAME") return names_components ? "components" : "starters";
  if (names_files(word)) return "files";
  if (std::isupper(static_cast<unsigned char>(word[0]))) return "";
  return "=" + word;  // itself
}

/// What a verb's words can be, read from its usage: "recipes overrides".
Words word_classes(const Verb& verb) {
  Words classes;
  std::string usage(verb.usage);
  const bool names_components = usage.find("KIND") != std::string::npos;
  std::replace_if(
      usage.begin(), usage.end(), [](char c) { return c == '[' || c == ']' || c == '|'; }, ' ');
  for (auto word : split(usage, ' ')) {
    while (word.ends_with('.')) word.pop_back();
    if (word.empty()) continue;
    const auto found = word_class(word, names_components);
    if (!found.empty() && std::find(classes.begin(), classes.end(), found) == classes.end())
      classes.push_back(found);
  }
  return classes;
}

/// "FILE", or the words of a closed set: "auto|always|never".
Words flag_values(const Flag& flag) {
  if (auto words = closed_words(flag.value); !words.empty()) return words;
  const bool file = flag.value.starts_with("FILE") || flag.value.starts_with("FOLDER");
  return {flag.value == "KEY" ? "@keys" : file ? "@files" : ""};
}

/// "  case $1 in ... esac" with what each name stands for.
class Table {
 public:
  Table(const Shell& shell, std::string function) : shell_(shell) { text_ = shell.open(function); }
  void row(const std::string& name, const Words& words) {
    if (!words.empty()) text_ += shell_.row(name, join(words, " "));
  }
  std::string text() const { return text_ + shell_.close(); }

 private:
  const Shell& shell_;
  std::string text_;
};

/// What the classes verbs, kinds and starters stand for.
std::string verb_table(const Program& program, const Shell& shell) {
  Words verbs, kinds;
  for (const auto& verb : program.verbs) verbs.emplace_back(verb.name);
  for (const auto& [kind, catalog] : *program.catalogs) kinds.push_back(kind);
  Table table(shell, "_ddptrain_verbs");
  table.row("verbs", verbs);
  table.row("kinds", kinds);
  table.row("starters", built_in_names());
  return table.text();
}

std::string class_table(const Program& program, const Shell& shell) {
  Table classes(shell, "_ddptrain_classes");
  for (const auto& verb : program.verbs) classes.row(std::string(verb.name), word_classes(verb));
  return classes.text();
}

std::string flag_tables(const Program& program, const Shell& shell) {
  Table flags(shell, "_ddptrain_flags"), values(shell, "_ddptrain_flag_values");
  for (const auto& verb : program.verbs) {
    const std::string name(verb.name);
    Words names;
    for (const auto& flag : all_flags(verb)) {
      names.emplace_back(flag.name);
      if (!flag.value.empty()) values.row(name + "," + std::string(flag.name), flag_values(flag));
    }
    flags.row(name, names);
  }
  return flags.text() + values.text();
}

std::string component_table(const Program& program, const Shell& shell) {
  Table components(shell, "_ddptrain_components");
  for (const auto& [kind, catalog] : *program.catalogs) components.row(kind, catalog->names());
  return components.text();
}

std::string key_tables(const Program& program, const Shell& shell) {
  Keys found(*program.catalogs);
  found.options(recipe_shape(), "");
  Table keys(shell, "_ddptrain_keys"), values(shell, "_ddptrain_values");
  Words names;
  for (const auto& key : found.all) {
    names.push_back(key.name);
    values.row(key.name, key.values);
  }
  keys.row("all", names);
  return keys.text() + values.text();
}

std::string tables(const Program& program, const Shell& shell) {
  return verb_table(program, shell) + class_table(program, shell) + flag_tables(program, shell) +
         component_table(program, shell) + key_tables(program, shell);
}

int completion(const Arguments& arguments) {
  const auto* shell = find_shell(arguments.words[0]);
  DDP_CHECK(shell != nullptr, "a shell of the usage that has no script");
  const auto script = shell->head() + tables(*arguments.program, *shell) + shell->body();
  print_exact(script);
  return 0;
}

}  // namespace

Verb completion_verb() {
  return {.name = "completion",
          .usage = "bash|zsh|fish",
          .summary = "a script that completes command lines: source <(ddptrain completion bash)",
          .flags = {},
          .min_words = 1,
          .max_words = 1,
          .run = completion};
}

}  // namespace ddptrain
