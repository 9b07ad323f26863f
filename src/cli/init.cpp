// `init`: a recipe to start from, for a user's data, or a built-in one that stands alone.
#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/print.h"
#include "base/text.h"
#include "cli/built_in.h"
#include "cli/editor_line.h"
#include "cli/foreign_config.h"
#include "cli/problems.h"
#include "cli/program.h"
#include "config/yaml/reader.h"
#include "recipe/load/load.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

void print_names() {
  print_lines(
      "ddptrain init DATA [FILE] writes a recipe for a folder of images or texts, or a .csv, "
      ".jsonl or .parquet file.\nddptrain init NAME [FILE] writes one of these recipes to FILE "
      "(NAME.yaml):\n\n");
  for (const auto& [file, text] : built_in_files())
    if (file.find('/') == std::string_view::npos)
      print_shown("  %-22s%s\n", fs::path(file).stem().c_str(), what_of(text).c_str());
}

/// What to type, or an option, and what it does.
struct NextStep {
  std::string words;
  std::string meaning;
};

/// Where the data come from, if options name a place.
std::optional<NextStep> data_step(const Node& data, const std::string& file) {
  const auto* source = data.find("source");
  if (source && source->is_map()) return NextStep{"ddptrain data get " + file, "fetches the data"};
  for (const auto* key : {"root", "file"})
    if (const auto* place = data.find(key)) {
      if (place->text.ends_with("data/shapes"))
        return NextStep{"ddptrain data make shapes data/shapes", "makes the data"};
      return NextStep{"data." + std::string(key) + ": " +
                          fs::path(place->text).lexically_proximate(fs::current_path()).string(),
                      "is where the data are looked for"};
    }
  return {};
}

void print_step(const NextStep& step) {
  print_shown("  %s\n      %s\n", step.words.c_str(), step.meaning.c_str());
}

void print_next(const std::string& file, const Catalogs& catalogs) {
  const auto loaded = load_recipe({file}, {}, catalogs);
  print_shown("wrote %s: %s\n\n", file.c_str(), what_of(read_text(file)).c_str());
  const auto* data = loaded.tree.find("data");
  if (const auto step = data ? data_step(*data, file) : std::nullopt) print_step(*step);
  print_step({"ddptrain validate " + file, "checks it; nothing is started"});
  print_step({"ddptrain run " + file, "trains"});
}

/// A file or folder that is there goes before a built-in recipe of its name.
bool means_data(const std::string& word) {
  std::error_code unknown;
  if (word.find('/') != std::string::npos || fs::exists(word, unknown)) return true;
  const auto names = built_in_names();
  const bool built_in = std::find(names.begin(), names.end(), word) != names.end();
  return !built_in && fs::path(word).has_extension();
}

int from_data(const Arguments& arguments) {
  const auto& program = *arguments.program;
  return program.init_from_data ? program.init_from_data(arguments)
                                : program.in_engine(arguments, "'init' for data");
}

void require_free_file(const std::string& file, const std::string& name,
                       const Arguments& arguments) {
  if (fs::is_directory(file))
    throw Error(Exit::recipe, "'{}' is a folder; name a file, such as '{}'", file,
                (fs::path(file) / (name + ".yaml")).string());
  if (fs::exists(file) && !arguments.has("--force"))
    throw Error(Exit::recipe, "'{}' is there already; --force replaces it, or name another file",
                file);
}

/// A configuration of another tool as keys of a recipe.
int from_other_tool(const Arguments& arguments) {
  const auto from = arguments.value("--from");
  if (arguments.words.size() > 1)
    throw Error(Exit::recipe, "--from: takes one more word at most, the file to write");
  const auto read = read_yaml(read_text(from), from);
  if (say_problems(read.problems)) return static_cast<int>(Exit::recipe);
  const auto config = foreign_config(read.tree, from);
  const auto text = editor_line(*arguments.program->catalogs) + foreign_recipe(config, from);
  const auto name = lower(config.tool);
  const auto file = arguments.words.empty() ? name + "-keys.yaml" : arguments.words[0];
  if (file == "-") return print_lines(text), 0;
  require_free_file(file, name, arguments);
  write_atomically(file, text);
  print_shown("wrote %s: %s of %s\n", file.c_str(), plural(std::ssize(config.keys), "key").c_str(),
              config.tool.c_str());
  for (const auto& [key, why] : config.left)
    print_shown("  left: %s: %s\n", key.c_str(), why.c_str());
  print_step({"ddptrain run RECIPE " + file, "trains a recipe with these keys"});
  return 0;
}

int init(const Arguments& arguments) {
  if (arguments.has("--from")) return from_other_tool(arguments);
  if (arguments.words.empty()) return print_names(), 0;
  const auto& name = arguments.words[0];
  if (means_data(name)) return from_data(arguments);
  for (const std::string flag : {"--target", "--text", "--table", "--task"})
    if (arguments.has(flag))
      throw Error(Exit::recipe, "{} is for a recipe from data, and '{}' is a built-in one", flag,
                  name);
  const auto text = editor_line(*arguments.program->catalogs) + starter(name);
  const auto file = arguments.words.size() > 1 ? arguments.words[1] : name + ".yaml";
  if (file == "-") return print_lines(text), 0;
  require_free_file(file, name, arguments);
  write_atomically(file, text);
  print_next(file, *arguments.program->catalogs);
  return 0;
}

}  // namespace

Verb init_verb() {
  return {.name = "init",
          .usage = "[DATA [FILE] | NAME [FILE]]",
          .summary =
              "write a recipe for a folder of images or texts or a .csv file, or a built-in one; "
              "alone, show the names of those",
          .flags = {{"--target", "COLUMN", "what to predict, of a .csv or .jsonl file"},
                    {"--text", "COLUMN", "learn from the texts of this column alone"},
                    {"--table", "", "learn from all columns but texts, whatever they hold"},
                    {"--task", "auto|language_model",
                     "of texts: language_model learns to continue them, and reads no labels; auto "
                     "does so where there are none"},
                    {"--from", "FILE",
                     "write the keys that a configuration of Accelerate (YAML) or DeepSpeed (JSON) "
                     "stands for, and list what has no counterpart"},
                    {"--force", "", "replace a file that is there"}},
          .max_words = 2,
          .run = init};
}

}  // namespace ddptrain
