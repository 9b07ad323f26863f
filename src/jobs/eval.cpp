// `eval RUN`: the run's last evaluation again, to the last bit, on any number of ranks; or the
// scores of its weights on other data.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "base/files/mapping_guard.h"
#include "base/output/print.h"
#include "base/output/terminal.h"
#include "base/text.h"
#include "callbacks/count_line.h"
#include "callbacks/writers.h"
#include "checkpoint/checkpoint.h"
#include "cli/verb.h"
#include "config/suggest.h"
#include "data/dataset.h"
#include "data/unknown.h"
#include "distributed/engine.h"
#include "jobs/saved_model.h"
#include "jobs/saved_run.h"
#include "jobs/start.h"
#include "recipe/eval_splits.h"
#include "recipe/layers/address.h"
#include "train/build/build.h"
#include "train/loop/state.h"
#include "train/requests.h"
#include "train/run/rank.h"
#include "train/step/evaluate.h"
#include "train/training.h"
#include "train/transfer/initial_weights.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// Which weights on which samples. The checkpoint also has what the data was fitted to, and the
/// order of its classes.
struct EvalJob {
  std::string file;  // of weights instead of the checkpoint's; may be empty
  Calls calls = Calls::refused;
  std::string checkpoint;
  Scored scored = Scored::valid;
  std::string split;     // what the samples are called: "valid", "train", "all", "sketch"
  std::string held_out;  // how the recipe chooses the validation split
  std::string tables;    // a folder to write tables to; empty: none is
  std::string weights;   // what they are called: "best weights"
};

TrainingPlan eval_plan(const EvalJob& job, const Recipe& recipe, const Placement& placement,
                       const Checkpoint& checkpoint) {
  TrainingPlan plan{recipe, placement, saved_data(checkpoint), job.scored, /*trains=*/false};
  if (job.file.empty()) return plan;
  plan.recipe.train.ema.reset();
  plan.recipe.train.swa.reset();
  return plan;
}

/// The one way of data.valid that is written, as YAML; empty where there is none.
std::string way_held_out(const Node& tree) {
  const auto* data = tree.find("data");
  const auto* valid = data ? data->find("valid") : nullptr;
  if (!valid || valid->is_null()) return {};
  if (valid->is_scalar()) return valid->text;
  for (const auto* way : {"folder", "fraction", "list", "column", "rows"}) {
    const auto* value = valid->find(way);
    if (!value || value->is_null() || (value->is_list() && value->items.empty())) continue;
    if (std::string(way) == "folder") return value->text;
    return fmt::format("{{{}: {}}}", way, value->is_list() ? "[...]" : value->text);
  }
  return {};
}

std::string split_text(const EvalJob& job, const Training& t) {
  if (job.split == kTestSplit) return "the test split";
  if (job.scored == Scored::valid && job.split != "valid") return fmt::format("'{}'", job.split);
  if (job.scored == Scored::train) return "the training split";
  if (job.scored == Scored::all) return "the training and validation splits";
  if (job.held_out.empty()) return "the validation split";
  const bool cut = job.held_out.starts_with('{');
  const auto all = t.data->size(Split::train) + t.data->size(Split::valid);
  return fmt::format("the validation split (data.valid: {}){}", job.held_out,
                     cut ? fmt::format("; '--split all' scores all {}", all) : "");
}

/// What was scored, so that no score is taken for that of other samples.
void log_scored(const EvalJob& job, const Training& t, const ScoredWeights& weights,
                std::int64_t skipped) {
  log::info("{}: scored {} of {}", to_text(weights),
            plural(t.data->size(Split::valid) - skipped, "sample"), split_text(job, t));
  if (const auto without = without_target(*t.data, Split::valid); without > 0)
    log::info("{} of them {} in no score", without,
              without == 1 ? "has no target and counts" : "have no target and count");
  for (const auto& unknown : unknown_values(*t.data, Split::valid)) log::info(to_text(unknown));
  auto absent = absent_classes(*t.data, Split::valid);
  if (absent.empty()) return;
  const auto count = absent.size();
  if (count > 8) absent.resize(8), absent.emplace_back("...");
  log::info("{} of {} classes {} no samples here: {}", count, t.data->facts().class_count(),
            count == 1 ? "has" : "have", join(absent, ", "));
}

/// "valid/accuracy" under the name of the split that was scored.
std::string scored_name(const std::string& name, const EvalJob& job) {
  return job.split + name.substr(std::string("valid").size());
}

/// A line for each metric, then the tables as the terminal can show them.
void print(const Evaluation& found, const EvalJob& job) {
  const auto columns = terminal_columns(STDOUT_FILENO);
  for (const auto& [name, value] : found.values) {
    const auto line = shown(scored_name(name, job)) + " " + format_number(value);
    print_lines(broken_at_blanks(line, columns) + "\n");
  }
  if (!job.tables.empty() && found.tables.empty())
    log::warning(
        "--tables: no file was written, since no metric of this run has a table; "
        "'metrics+=[confusion_matrix]' adds one");
  for (const auto& table : found.tables) {
    print_lines("\n");
    for (const auto& line : to_lines(table, columns)) print_lines(line + "\n");
    if (!job.tables.empty()) make_folders(job.tables), write_table(job.tables, table);
  }
}

/// Of an evaluation that all ranks left early: the exit code of a signal, or the Error of a rank
/// that lost its data.
int left_early(World& world, const Hooks& hooks) {
  Requests mine;
  if (hooks.stop_requested) mine.stop = hooks.stop_requested();
  mine.data_lost = !lost_mapped_file().empty();
  const auto all = agree(*world.control, mine);
  if (all.data_lost) fail_without_data(*world.control);
  return 128 + all.stop.signal;
}

void name_tables(Evaluation& found, const EvalJob& job, const ScoredWeights& weights) {
  for (auto& table : found.tables) {
    table.weights = weights;
    table.name = scored_name(table.name, job);
  }
}

int eval_in(World& world, const EvalJob& job, const Recipe& recipe, const Placement& placement,
            const Hooks& hooks) {
  const auto alive = [&] {
    if (hooks.beat) hooks.beat(0, "evaluation");
  };
  alive();
  const auto checkpoint = load_checkpoint(job.checkpoint);
  const auto training = build(eval_plan(job, recipe, placement, checkpoint), world);
  if (job.file.empty())
    restore_weights(*training, checkpoint);
  else  // a run's average has nothing to do with them
    take_all_weights(*training, job.file, job.calls, "--weights");
  const auto asked = [&] { return hooks.stop_requested && hooks.stop_requested().signal != 0; };
  CountLine line("evaluating, batch", "batches");
  const auto all = evaluation_calls(*training);
  std::int64_t scored = 0;
  auto found = evaluate_unless(*training, asked, [&] {
    alive();
    line.show(++scored, all);
  });
  line.clear();
  if (!found) return left_early(world, hooks);
  if (world.rank != 0) return 0;
  const ScoredWeights weights{job.weights, job.file.empty() ? checkpoint.step : -1};
  name_tables(*found, job, weights);
  log_scored(job, *training, weights, found->left_out);
  print(*found, job);
  return 0;
}

int eval_rank(const EvalJob& job, const Recipe& recipe, const Placement& placement,
              const Topology& topology, const Hooks& hooks) {
  prepare_process(recipe, placement);
  return in_world(recipe, placement, topology,
                  [&](World& world) { return eval_in(world, job, recipe, placement, hooks); });
}

constexpr Flag kScoredSplit{"--split", "SPLIT",
                            "the samples to score, through the transforms of validation: valid "
                            "(default), train, all, one of eval.splits, or test"};

/// Makes the samples that are called `split` those that the recipe holds out, or says which of the
/// recipe's own are scored. The others are not looked at. An Error where there are none.
Scored choose_split(const std::string& split, SavedRun& run) {
  std::vector<std::string> known;
  for (const auto word : names(Scored())) known.emplace_back(word);
  auto scored = Scored::valid;
  const auto of_data = std::find(known.begin(), known.end(), split);
  bool found = of_data != known.end();
  if (found) scored = static_cast<Scored>(of_data - known.begin());
  for (const auto& section : split_sections(run.recipe)) {
    known.push_back(section.name);
    if (section.name != split) continue;
    found = true;
    run.recipe.data = section.data;
    run.tree.set("data", section.data.node());
  }
  if (!found)
    throw Error(Exit::recipe, "--split: '{}' is not {}{}", split, one_of(known),
                did_you_mean(nearest_names(split, known)));
  drop_splits(run.recipe);
  return scored;
}

int eval(const Arguments& arguments) {
  auto words = split_words({arguments.words.begin() + 1, arguments.words.end()});
  auto run = open_run(arguments.words[0], without_training(words.overrides),
                      arguments.value(kCheckpoint.name, "last"));
  const auto split = arguments.value(kScoredSplit.name, "valid");
  const auto scored = choose_split(split, run);
  const EvalJob job{arguments.value("--weights"),
                    asked_calls(arguments),
                    run.checkpoint,
                    scored,
                    split,
                    way_held_out(run.tree),
                    arguments.value("--tables"),
                    arguments.has("--weights")
                        ? "weights of " + fs::path(arguments.value("--weights")).filename().string()
                        : weights_of(run).name};
  require_checkpoint(run);
  const auto outer = topology_from_environment();
  Placement placement;
  with_places(run.tree, [&] { placement = place(run.recipe, outer); });
  const auto recipe = resolved(run.recipe, placement);
  return start_ranks(recipe, placement, outer,
                     [&](const Topology& topology, const Hooks& hooks) {
                       return eval_rank(job, recipe, placement, topology, hooks);
                     },
                     {arguments.level, {}, &run.tree});
}

}  // namespace

Verb eval_verb() {
  return {.name = "eval",
          .usage = "RUN_FOLDER [key=value...]",
          .summary = "the metrics of a run's weights on its validation split, or on other data",
          .flags = {kCheckpoint,
                    {"--tables", "FOLDER", "write confusion.csv and classes.csv there"},
                    kScoredSplit,
                    {"--weights", "FILE", "these weights instead, such as those of 'average'"},
                    kAllowCalls},
          .min_words = 1,
          .run = eval};
}

}  // namespace ddptrain
