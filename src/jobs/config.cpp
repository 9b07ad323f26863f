// `config [FILE]`: where and how this machine trains, as a file of the recipes' language to lay
// over any recipe: ddptrain run RECIPE.yaml machine.yaml.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/output/print.h"
#include "base/quoting.h"
#include "cli/verb.h"
#include "config/encode.h"
#include "config/shape.h"
#include "config/yaml/reader.h"
#include "jobs/draft/machine.h"
#include "recipe/recipe.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUsualFile = "machine.yaml";

/// The sections that are about the machine.
struct MachineSections {
  std::int64_t recipe = 1;
  ParallelSpec parallel;
  OutputSpec output;
  void fields(Fields& f) {
    f("recipe", recipe, {.doc = "Version of the recipe format.", .min = 1, .max = 1});
    f("parallel", parallel, {.doc = "Devices and how they work together."});
    f("output", output, {.doc = "Where results go."});
  }
};

/// An empty answer keeps `usual`.
std::string asked(const std::string& question, const std::string& usual) {
  log::info("{} [{}]", question, usual);
  std::string answer;
  std::getline(std::cin, answer);
  return answer.empty() ? usual : answer;
}

MachineUse asked_use(MachineUse use) {
  use.mode = asked("mode: none (one device), ddp or dp (several)", use.mode);
  use.device = asked("device: cuda or cpu", use.device);
  use.devices = asked("devices: how many, which ([0, 2]), or auto", use.devices);
  use.output = asked("folder of runs", use.output);
  return use;
}

std::string data_comment() {
  const char* folder = std::getenv("DDPTRAIN_DATA");
  if (folder) return fmt::format("# Recipes look for data in DDPTRAIN_DATA, here {}\n", folder);
  return "# Recipes look for data in the folder that DDPTRAIN_DATA names: export "
         "DDPTRAIN_DATA=/data\n";
}

/// Wherever a recipe is run from.
std::string output_section(const std::string& folder) {
  auto output = Node::map();
  output.set("dir", Node::quoted_text(fs::absolute(folder).lexically_normal().string()));
  auto section = Node::map();
  section.set("output", std::move(output));
  return to_yaml(section);
}

std::string text_of(const MachineUse& use, const std::string& file) {
  return fmt::format(
      "# Where and how: {}. Written by 'ddptrain config'; for any recipe:\n"
      "#   ddptrain run RECIPE.yaml {}\n"
      "{}recipe: 1\n"
      "parallel: {{mode: {}, device: {}, devices: {}}}\n{}",
      use.machine, file, data_comment(), use.mode, use.device, use.devices,
      output_section(use.output));
}

/// Answers may be anything.
void require_sections(const std::string& text, const std::string& file) {
  const auto read = read_yaml(text, file);
  auto problems = read.problems;
  if (problems.empty()) problems = check(read.tree, shape_of<MachineSections>(), all_catalogs());
  if (has_errors(problems))
    throw Error(Exit::recipe, Option{problems.front().path}, problems.front().message);
}

bool is_on_a_terminal() { return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1; }

int config(const Arguments& arguments) {
  const auto file = arguments.words.empty() ? kUsualFile : arguments.words[0];
  if (file != "-" && fs::exists(file) && !arguments.has("--force"))
    throw Error(Exit::recipe, "'{}' is there already; --force replaces it, or name another file",
                file);
  auto use = use_of_this_machine();
  if (is_on_a_terminal() && !arguments.has("--yes")) use = asked_use(std::move(use));
  const auto text = text_of(use, file == "-" ? kUsualFile : file);
  require_sections(text, file);
  if (file == "-") return print_lines(text), 0;
  write_atomically(file, text);
  print_lines(
      fmt::format("wrote {}: {}\n\n"
                  "  ddptrain run RECIPE.yaml {}\n",
                  file, use.machine, shell_word(file)));
  return 0;
}

}  // namespace

Verb config_verb() {
  return {.name = "config",
          .usage = "[FILE]",
          .summary =
              "write devices, mode and output folder of this machine to FILE (machine.yaml), to "
              "run any recipe with; asks on a terminal",
          .flags = {{"--yes", "", "ask nothing: what suits this machine"},
                    {"--force", "", "replace a file that is there"}},
          .max_words = 1,
          .run = config};
}

}  // namespace ddptrain
