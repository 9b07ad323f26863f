// `eval RUN`: the run's last evaluation again, to the last bit, on any number of ranks.
#include <unistd.h>

#include <cstdio>

#include "base/error.h"
#include "base/files.h"
#include "base/terminal.h"
#include "base/text.h"
#include "callbacks/writers.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/weights.h"
#include "cli/verb.h"
#include "jobs/saved_run.h"
#include "jobs/start.h"
#include "train/build.h"
#include "train/evaluate.h"
#include "train/rank.h"
#include "train/state.h"

namespace ddptrain {
namespace {

// Weights of a file in place of the checkpoint's; a run's average has nothing to do with them.
void take_file(Training& training, const std::string& file) {
  auto& model = training.engine->model();
  const auto fit = take_weights(read_weights(file), model.state(), "");
  const auto problem = misfit(fit);
  if (!problem.empty())
    throw Error(Exit::data, "--weights: '" + file + "' does not fit: " + problem);
  training.engine->parameters_changed();
  training.ema.reset();
}

/// Which weights: those of a file, else the checkpoint's, which also says what the data was fitted
/// to.
struct Evaluated {
  std::string file;
  std::string checkpoint;
  std::string tables;  // a folder to write tables to; empty: none is
};

/// A line for each metric, then the tables as the terminal can show them.
void print(const Evaluation& found, const std::string& folder) {
  for (const auto& [name, value] : found.values)
    std::printf("%s %s\n", name.c_str(), format_number(value).c_str());
  for (const auto& table : found.tables) {
    std::puts("");
    for (const auto& line : to_lines(table, terminal_columns(STDOUT_FILENO)))
      std::puts(line.c_str());
    if (!folder.empty()) write_table(folder, table);
  }
}

int eval_rank(const Evaluated& what, const Recipe& recipe, const Placement& placement,
              const Topology& topology, const Hooks& hooks) {
  prepare_process(recipe, placement);
  auto world = join_world(recipe, placement, topology);
  const auto alive = [&] {
    if (hooks.beat) hooks.beat(0, "evaluation");
  };
  alive();
  const auto checkpoint = load_checkpoint(what.checkpoint);
  auto training = build(recipe, placement, world, fitted_state(checkpoint));
  if (what.file.empty())
    restore_weights(training, checkpoint);
  else
    take_file(training, what.file);
  const auto found = evaluate(training, alive);
  if (world.rank == 0) print(found, what.tables);
  return 0;
}

int eval(const Arguments& arguments) {
  auto words = split_words({arguments.words.begin() + 1, arguments.words.end()});
  // Batches of training do not matter here, whatever the number of ranks.
  words.overrides.insert(words.overrides.begin(), {"~batch", "batch.per_device=1"});
  const auto run =
      open_run(arguments.words[0], words.overrides, arguments.value("--checkpoint", "last"));
  const Evaluated what{arguments.value("--weights"), run.checkpoint, arguments.value("--tables")};
  if (!what.tables.empty()) make_folders(what.tables);
  require_checkpoint(run);
  const auto outer = topology_from_environment();
  const auto placement = place(run.recipe, outer);
  const auto recipe = resolved(run.recipe, placement);
  return start_ranks(recipe, placement, outer,
                     [&](const Topology& topology, const Hooks& hooks) {
                       return eval_rank(what, recipe, placement, topology, hooks);
                     },
                     {arguments.level, {}});
}

}  // namespace

Verb eval_verb() {
  return {
      .name = "eval",
      .usage = "RUN_FOLDER [key=value...]",
      .summary = "the metrics of a run's weights on its validation data",
      .flags = {{"--checkpoint", "WHICH", "last (default), best, or a name such as step-00000740"},
                {"--weights", "FILE", "these weights instead, such as those of 'average'"},
                {"--tables", "FOLDER", "write confusion.csv and classes.csv there"}},
      .min_words = 1,
      .run = eval};
}

}  // namespace ddptrain
