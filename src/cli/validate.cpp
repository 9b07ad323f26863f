// `validate RECIPE...`: checks without starting anything; no file but the recipes is touched.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/output/print.h"
#include "base/text.h"
#include "cli/problems.h"
#include "cli/program.h"
#include "config/formats/problem_formats.h"
#include "recipe/load/load.h"
#include "recipe/rules/rule_docs.h"
#include "recipe/rules/rules.h"
#include "recipe/run_folders.h"
#include "recipe/sweep/trials.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 4 << 20;

bool is_yaml(const fs::path& file) {
  const auto ending = lower(file.extension().string());
  return ending == ".yaml" || ending == ".yml";
}

/// Looked for as text, so that a recipe that is no YAML is checked too.
bool is_recipe(const std::string& text) {
  for (const auto& line : split(text, '\n'))
    if (line.starts_with("recipe:") || line.starts_with("extends:")) return true;
  return false;
}

/// Copies of recipes that were good once, or what belongs to another tool.
bool is_left_out(const fs::path& folder) {
  std::error_code none;  // a folder that may not be read
  return folder.filename().string().starts_with('.') || holds_run(folder.string()) ||
         fs::exists(folder / "sweep.json", none);
}

/// The .yaml and .yml files below a folder, in alphabetical order, that are recipes: they have the
/// key `recipe` or `extends`. Hidden folders and folders of runs are left out. `others` gets the
/// YAML files that are none.
std::vector<std::string> recipes_below(const std::string& folder,
                                       std::vector<std::string>& others) {
  std::vector<std::string> files;
  const auto options = fs::directory_options::skip_permission_denied;
  std::error_code none;  // a link that leads nowhere, or to itself
  for (fs::recursive_directory_iterator at(folder, options), end; at != end; ++at) {
    if (at->is_directory(none) && is_left_out(at->path())) at.disable_recursion_pending();
    if (is_yaml(at->path()) && !at->exists(none)) others.push_back(at->path().string());
    if (!at->is_regular_file(none) || !is_yaml(at->path())) continue;
    const bool recipe = at->file_size() <= kMostBytes && is_recipe(read_text(at->path().string()));
    (recipe ? files : others).push_back(at->path().lexically_normal().string());
  }
  std::sort(files.begin(), files.end());
  std::sort(others.begin(), others.end());
  return files;
}

/// "a.yaml, b.yaml and 7 more".
std::string some_names(std::vector<std::string> names) {
  constexpr std::size_t most = 20;
  const auto more = names.size() > most ? names.size() - most : 0;
  names.resize(names.size() - more);
  return join(names, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
}

/// Folders become the recipes below them; a folder without any is an Error.
std::vector<std::string> recipe_files(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  for (const auto& word : words) {
    std::error_code none;
    if (!fs::is_directory(word, none)) {
      files.push_back(word);
      continue;
    }
    std::vector<std::string> others;
    const auto below = recipes_below(word, others);
    if (below.empty())
      throw Error(Exit::recipe, "'{}' holds no recipe, no .yaml file with the key 'recipe'{}", word,
                  others.empty() ? "" : " or 'extends': " + some_names(others));
    if (!others.empty())
      log::info("{}: left out, without 'recipe' or 'extends': {}", word, some_names(others));
    files.insert(files.end(), below.begin(), below.end());
  }
  return files;
}

// `--devices 1,2,4`: does the batch arithmetic work for each?
void check_devices(const Loaded& loaded, const std::string& list, Problems& problems) {
  for (const auto& word : split(list, ',')) {
    const auto devices = parse_integer(trim(word));
    if (!devices || *devices < 1)
      throw Error(Exit::recipe,
                  "--devices: '{}' is not a number of devices; write for example 1,2,4", word);
    const auto found = check_batch(loaded.recipe, loaded.tree, *devices);
    problems.insert(problems.end(), found.begin(), found.end());
  }
  add_sources(problems, loaded.sources);
}

/// What only some trial of a sweep has; the standard input cannot be read again for each.
void check_sweep(const std::string& file, const std::vector<std::string>& overrides, Loaded& loaded,
                 const Catalogs& catalogs) {
  if (file == "-" || has_errors(loaded.problems) || !loaded.recipe.sweep) return;
  const auto found = check_trials({file}, overrides, loaded, catalogs);
  loaded.problems.insert(loaded.problems.end(), found.begin(), found.end());
}

/// What writes problems for machines; null for a person's text.
using Render = std::string (*)(const Problems&);

std::string sarif(const Problems& problems) { return render_sarif(problems, all_rule_docs()); }

// In the order of its words.
constexpr Flag kFormat{"--format", "text|json|jsonl|github|sarif",
                       "how problems are written (default text)"};

Render format_of(const Arguments& arguments) {
  static constexpr std::array<Render, 5> formats{nullptr, render_json, render_jsonl, render_github,
                                                 sarif};
  return formats.at(arguments.chosen(kFormat));
}

void say(const Problems& problems, Render format) {
  if (!format) {
    say_problems(problems);
    return;
  }
  print_exact(format(problems));
  if (const auto count = count_text(sorted(problems)); !count.empty()) log::info(count);
}

// Its words are those of Level.
constexpr Flag kLevel{"--level", "rules|data|model|step",
                      "rules (default): the recipe alone; data: what it names can be read; model: "
                      "one batch on the CPU; step: one step on the devices"};

/// What a level above `rules` says of a recipe without errors.
Findings look_deeper(const std::string& file, Loaded& loaded, Level level,
                     const Arguments& arguments) {
  if (level == Level::rules || has_errors(loaded.problems)) return {};
  auto findings = arguments.program->check_level(loaded, level);
  if (arguments.level != log::Level::quiet)
    for (const auto& report : findings.reports) log::info("{}: {}", file, report);
  loaded.problems.insert(loaded.problems.end(), findings.problems.begin(), findings.problems.end());
  return findings;
}

int validate(const Arguments& arguments) {
  auto words = split_words(arguments.words);
  const auto level = static_cast<Level>(arguments.chosen(kLevel));
  if (level > Level::rules && !arguments.program->check_level)
    return arguments.program->in_engine(
        arguments, fmt::format("'validate --level {}'", arguments.value(kLevel.name)));
  const auto format = format_of(arguments);
  words.files = recipe_files(words.files);
  Problems all;
  auto code = Exit::done;
  for (const auto& file : words.files) {
    auto loaded = load_recipe({file}, words.overrides, *arguments.program->catalogs);
    if (arguments.has("--devices") && !has_errors(loaded.problems))
      check_devices(loaded, arguments.value("--devices"), loaded.problems);
    check_sweep(file, words.overrides, loaded, *arguments.program->catalogs);
    const auto findings = look_deeper(file, loaded, level, arguments);
    if (code == Exit::done) code = findings.code;
    if (loaded.problems.empty() && !format && arguments.level != log::Level::quiet)
      print_shown("%s: good\n", file.c_str());
    all.insert(all.end(), loaded.problems.begin(), loaded.problems.end());
  }
  apply_strict(all, arguments);
  say(all, format);
  return static_cast<int>(has_errors(all) && code == Exit::done ? Exit::recipe : code);
}

}  // namespace

Verb validate_verb() {
  return {.name = "validate",
          .usage = "RECIPE|FOLDER|-... [key=value...]",
          .summary =
              "check recipes (all below a folder; - is the standard input), each by itself, "
              "without starting anything",
          .flags = {kLevel,
                    {"--devices", "LIST",
                     "check the batch arithmetic for these numbers of devices: 1,2,4"},
                    kFormat,
                    kStrict},
          .min_files = 1,
          .run = validate};
}

}  // namespace ddptrain
