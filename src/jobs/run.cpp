// `run RECIPE... [key=value...]`: the whole story, from files to an exit code; with --repeat N or
// --folds K one run after the other, on several seeds or with several folds held out.
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/print.h"
#include "base/output/terminal.h"
#include "base/quoting.h"
#include "checkpoint/checkpoint.h"
#include "cli/problems.h"
#include "cli/verb.h"
#include "jobs/job.h"
#include "jobs/nodes.h"
#include "jobs/restart/other_devices.h"
#include "jobs/restart/resumed_job.h"
#include "jobs/saved_run.h"
#include "jobs/scripts/scripts.h"
#include "jobs/series.h"
#include "launch/signals.h"
#include "recipe/load/load.h"
#include "train/catalogs.h"
#include "train/results/ending.h"
#include "train/results/repetition.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// The recipe of a member; nothing where it has errors, which are printed, as the first one's
/// warnings are.
std::optional<Job> make_member(const Arguments& arguments, const SeriesMember& member, bool first) {
  auto words = split_words(arguments.words);
  words.overrides.insert(words.overrides.end(), member.overrides.begin(), member.overrides.end());
  auto loaded = load_recipe(words.files, words.overrides, all_catalogs());
  apply_strict(loaded.problems, arguments);
  if (first) say_problems(loaded.problems);
  if (has_errors(loaded.problems)) return {};
  auto job = make_job(loaded.recipe, loaded.tree, {});
  job.results_to_stdout = false;  // the table of all members is the result
  job.traces = traces_of(arguments);
  job.start = run_start(job, arguments, std::move(loaded.sources));
  job.start.holds_secrets = reported(loaded.problems, "literal-secret");
  return job;
}

int start(const Job& job, log::Level level) {
  try {
    return start_job(job, {}, level);
  } catch (const Error& error) {
    if (!is_result(static_cast<int>(error.code()))) throw;
    log::error(error.what());
    return static_cast<int>(error.code());
  }
}

int begin_member(Job& job, const std::string& head, Repetition& repetition, log::Level level) {
  const HeldSignals held;
  job.folder = make_run_folder(job.recipe.output.dir, job.start);
  const auto lock = lock_run(job.folder);
  repetition.add(job.folder);
  log::info("{}run folder {}", head, typed_path(job.folder));
  return start(job, level);
}

/// A run of an earlier start of this repetition: done, or to be continued.
int take_up(Job& job, const std::string& head, const std::string& folder, log::Level level) {
  const auto lock = lock_run(folder);
  const auto ended = run_end(folder);
  if (ended.exit_code && is_result(*ended.exit_code)) {
    log::info("{}done in {}", head, folder);
    return *ended.exit_code;
  }
  job.folder = folder;
  job.checkpoint = checkpoint_to_resume(newest_of(folder));
  log::info("{}resuming in {}", head, folder);
  return start(job, level);
}

/// Whose numbers are in a table: the test split is scored with the weights of the result.
std::string title_of_last(const std::vector<SeriesRun>& members) {
  std::string text = "last weights: the last evaluation of each run";
  for (const auto& [name, value] : members.at(0).run.metrics)
    if (name.starts_with("test/")) return text + "; test: best weights where they are kept";
  return text;
}

void report_results(const Repetition& repetition, const RunSeries& series) {
  std::vector<SeriesRun> members;
  for (const auto& folder : repetition.folders())
    members.push_back({series.members.at(members.size()).name, run_end(folder)});
  const auto width = terminal_columns(STDOUT_FILENO);
  print_lines(best_members_table(series.kind, members, width));
  print_lines(broken_at_blanks(title_of_last(members), width) + "\n");
  print_lines(members_table(series.kind, members, width));
  log::info("the table is in {}", repetition.write_table(series.kind, members));
}

/// Each member's run has a folder of its own. At the end prints and writes metrics per member with
/// mean and deviation, and returns the worst exit code. Diverging and missed expectations are
/// results and the next one follows; anything else ends the repetition, which the same command
/// takes up again.
int run_series(const Arguments& arguments, const RunSeries& series) {
  const auto first = make_member(arguments, series.members[0], true);
  if (!first) return static_cast<int>(Exit::recipe);
  log::info(to_text(first->placement.batch));
  Repetition repetition(first->recipe.output.dir, first->recipe.name, first->recipe_text,
                        std::ssize(series.members));
  const auto begun = repetition.folders();
  int worst = 0;
  for (std::size_t i = 0; i < series.members.size(); ++i) {
    auto job = make_member(arguments, series.members[i], false);
    DDP_CHECK(job, "a member made a recipe wrong");
    const auto called = series.kind + " " + series.members[i].name;
    const int code = i < begun.size()
                         ? take_up(*job, called + ": ", begun[i], arguments.level)
                         : begin_member(*job, called + ": ", repetition, arguments.level);
    worst = worse(worst, code);
    if (is_result(code)) continue;
    log::info("run the same command again to continue with {}", called);
    return code;
  }
  report_results(repetition, series);
  repetition.finish();
  return worst;
}

/// A series starts its runs itself, one after the other, on this machine.
void require_one_run(const Arguments& arguments) {
  for (const auto& flag : {kPrintLaunch, kNodes, kNodeRank, kAddress, kAutoResume})
    if (arguments.has(flag.name))
      throw Error(Exit::recipe, "{} is for one run, and --repeat and --folds start several",
                  flag.name);
}

int run_several(const Arguments& arguments) {
  require_one_run(arguments);
  const auto series = series_of(arguments);
  const bool folds = arguments.has(kFolds.name);
  if (topology_from_environment().joined())
    throw Error(Exit::recipe,
                "{} starts its ranks itself; under another launcher give each run its '{}",
                folds ? "--folds" : "--repeat", folds ? "data.valid.fold='" : "seed='");
  return run_series(arguments, series);
}

void say_unfinished(const Job& job) {
  const auto found = unfinished_run(job.recipe.output.dir, job.recipe.name, job.recipe_text);
  if (!found) return;
  const auto folder = typed_path(*found);
  log::info("an unfinished run of this recipe is in {}; '{} resume {}' continues it", folder,
            called_as(), folder);
}

/// --auto-resume: the newest unfinished run of this recipe, if there is one.
std::optional<std::string> unfinished_folder(const Job& job, const Arguments& arguments) {
  if (!arguments.has(kAutoResume.name)) return {};
  return unfinished_run(job.recipe.output.dir, job.recipe.name, job.recipe_text);
}

void resume_in(const std::string& folder, Job& job) {
  auto from = checkpoint_or_local(newest_of(folder), job.recipe);
  job.checkpoint = std::move(from.checkpoint);
  job.without_local = std::move(from.without_local);
  log::info("resuming the unfinished run in {}{}", typed_path(folder),
            job.checkpoint              ? " from " + fs::path(*job.checkpoint).filename().string()
            : job.without_local.empty() ? " from its first step"
                                        : " from a checkpoint of the nodes (checkpoint.local)");
}

/// A job, and the folder of the run that it continues; none: it starts one.
struct Started {
  Job job;
  std::optional<std::string> folder = {};
};

/// Under another launcher: rank 0 is asked for the folder.
int run_joined(Started& started, const Topology& outer, const Arguments& arguments) {
  auto& job = started.job;
  std::unique_ptr<FileLock> lock;
  if (outer.rank == 0 && started.folder) resume_in(*started.folder, job);
  job.make_folder = [&] {
    auto folder =
        started.folder ? *started.folder : make_run_folder(job.recipe.output.dir, job.start);
    lock = lock_run(folder);
    return folder;
  };
  return start_job(job, outer, arguments.level);
}

int run_here(Started& started, const Arguments& arguments) {
  auto& job = started.job;
  const HeldSignals held;
  if (started.folder) resume_in(*started.folder, job);
  job.folder = started.folder ? *started.folder : make_run_folder(job.recipe.output.dir, job.start);
  if (!started.folder) log::info("run folder {}", typed_path(job.folder));
  const auto lock = lock_run(job.folder);
  return start_job(job, {}, arguments.level);
}

/// All ranks come to the same: that of other devices has another recipe than was given.
Started on_other_devices(Resumed resumed, const Topology& outer) {
  if (outer.rank == 0) log_changes(resumed.run.folder, resumed.job);
  return {std::move(resumed.job), resumed.run.folder};
}

/// --auto-resume looks for a run that other devices began, where none fits these, or where these
/// cannot do what the recipe says of its batch.
Started started_job(Recipe& recipe, const Node& tree, const Topology& outer,
                    const Arguments& arguments) {
  if (!arguments.has(kAutoResume.name)) return {make_job(recipe, tree, outer)};
  const auto other = [&] { return unfinished_on_other_devices(recipe, tree, outer); };
  try {
    Started started{make_job(recipe, tree, outer)};
    started.folder = unfinished_folder(started.job, arguments);
    if (started.folder) return started;
    if (auto resumed = other()) return on_other_devices(std::move(*resumed), outer);
    return started;
  } catch (const Error& error) {
    if (!is_of_devices(error)) throw;
    if (auto resumed = other()) return on_other_devices(std::move(*resumed), outer);
    throw;
  }
}

int print_launch(const Recipe& recipe, const Arguments& arguments) {
  const auto plan = launch_plan_of(recipe, arguments);
  print_exact(launch_script(arguments.value(kPrintLaunch.name), plan));
  return 0;
}

int run(const Arguments& arguments) {
  const auto words = split_words(arguments.words);
  const auto traces = traces_of(arguments);
  if (asks_for_several(arguments)) return run_several(arguments);
  auto loaded = load_recipe(words.files, words.overrides, all_catalogs());
  apply_strict(loaded.problems, arguments);
  if (say_problems(loaded.problems)) return static_cast<int>(Exit::recipe);
  if (arguments.has(kPrintLaunch.name)) return print_launch(loaded.recipe, arguments);
  const auto outer = topology_given(arguments, loaded.recipe.parallel);
  auto started = started_job(loaded.recipe, loaded.tree, outer, arguments);
  auto& job = started.job;
  job.traces = traces;
  if (arguments.has(kAutoResume.name)) job.usr1 = Usr1::stops;
  job.start = run_start(job, arguments, std::move(loaded.sources));
  job.start.holds_secrets = reported(loaded.problems, "literal-secret");
  if (outer.rank == 0) {
    if (loaded.recipe.sweep)
      log::info(
          "this run trains the recipe as it stands; 'ddptrain sweep' reads its section 'sweep'");
    if (const auto other = devices_by_launcher(loaded.recipe.parallel, outer); !other.empty())
      log::warning(other);
    if (!arguments.has(kAutoResume.name)) say_unfinished(job);
    log::info(to_text(job.placement.batch));
  }
  return outer.joined() ? run_joined(started, outer, arguments) : run_here(started, arguments);
}

}  // namespace

Verb run_verb() {
  return {.name = "run",
          .usage = "RECIPE... [key=value...]",
          .summary = "train; on several devices starts the ranks itself",
          .flags = {kRepeat, kFolds, kFoldBy, kStrict, kProfile, kTrace, kPrintLaunch, kNodes,
                    kNodeRank, kAddress, kAutoResume},
          .min_files = 1,
          .run = run};
}

}  // namespace ddptrain
