// `run RECIPE... [key=value...]`: the whole story, from files to an exit code; with --repeat N or
// --folds K one run after the other, on several seeds or with several folds held out.
#include <unistd.h>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/print.h"
#include "base/output/terminal.h"
#include "base/quoting.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "cli/problems.h"
#include "cli/verb.h"
#include "jobs/job.h"
#include "jobs/saved_run.h"
#include "jobs/series.h"
#include "launch/signals.h"
#include "recipe/load/load.h"
#include "train/catalogs.h"
#include "train/results/ending.h"
#include "train/results/repetition.h"

namespace ddptrain {
namespace {

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
  log::info(head + "run folder " + typed_path(job.folder));
  return start(job, level);
}

/// A run of an earlier start of this repetition: done, or to be continued.
int take_up(Job& job, const std::string& head, const std::string& folder, log::Level level) {
  const auto lock = lock_run(folder);
  const auto ended = run_end(folder);
  if (ended.exit_code && is_result(*ended.exit_code)) {
    log::info(head + "done in " + folder);
    return *ended.exit_code;
  }
  job.folder = folder;
  job.checkpoint = checkpoint_to_resume(newest_of(folder));
  log::info(head + "resuming in " + folder);
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
  log::info("the table is in " + repetition.write_table(series.kind, members));
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
    log::info("run the same command again to continue with " + called);
    return code;
  }
  report_results(repetition, series);
  repetition.finish();
  return worst;
}

int run_several(const Arguments& arguments) {
  const auto series = series_of(arguments);
  const bool folds = arguments.has(kFolds.name);
  if (topology_from_environment().joined())
    throw Error(Exit::recipe, std::string(folds ? "--folds" : "--repeat") +
                                  " starts its ranks itself; under another launcher give each run "
                                  "its '" +
                                  (folds ? "data.valid.fold='" : "seed='"));
  return run_series(arguments, series);
}

void say_unfinished(const Job& job) {
  const auto found = unfinished_run(job.recipe.output.dir, job.recipe.name, job.recipe_text);
  if (!found) return;
  const auto folder = typed_path(*found);
  log::info("an unfinished run of this recipe is in " + folder + "; '" + called_as() + " resume " +
            folder + "' continues it");
}

/// Under another launcher: rank 0 is asked for the folder.
int run_joined(Job& job, const Topology& outer, log::Level level) {
  std::unique_ptr<FileLock> lock;
  job.make_folder = [&] {
    auto folder = make_run_folder(job.recipe.output.dir, job.start);
    lock = lock_run(folder);
    return folder;
  };
  return start_job(job, outer, level);
}

int run(const Arguments& arguments) {
  const auto words = split_words(arguments.words);
  const auto traces = traces_of(arguments);
  if (asks_for_several(arguments)) return run_several(arguments);
  auto loaded = load_recipe(words.files, words.overrides, all_catalogs());
  apply_strict(loaded.problems, arguments);
  if (say_problems(loaded.problems)) return static_cast<int>(Exit::recipe);
  const auto outer = topology_from_environment();
  auto job = make_job(loaded.recipe, loaded.tree, outer);
  job.traces = traces;
  job.start = run_start(job, arguments, std::move(loaded.sources));
  job.start.holds_secrets = reported(loaded.problems, "literal-secret");
  if (outer.rank == 0) {
    if (loaded.recipe.sweep)
      log::info(
          "this run trains the recipe as it stands; 'ddptrain sweep' reads its section 'sweep'");
    say_unfinished(job);
    log::info(to_text(job.placement.batch));
  }
  if (outer.joined()) return run_joined(job, outer, arguments.level);
  const HeldSignals held;
  job.folder = make_run_folder(job.recipe.output.dir, job.start);
  log::info("run folder " + typed_path(job.folder));
  const auto lock = lock_run(job.folder);
  return start_job(job, outer, arguments.level);
}

}  // namespace

Verb run_verb() {
  return {.name = "run",
          .usage = "RECIPE... [key=value...]",
          .summary = "train; on several devices starts the ranks itself",
          .flags = {kRepeat, kFolds, kFoldBy, kStrict, kProfile, kTrace},
          .min_files = 1,
          .run = run};
}

}  // namespace ddptrain
