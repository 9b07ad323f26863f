// `resume RUN_FOLDER [key=value...]`: continues an interrupted run, exactly; or a new run from one
// of its earlier checkpoints.
#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/verify.h"
#include "jobs/job.h"
#include "jobs/nodes.h"
#include "jobs/restart/other_devices.h"
#include "jobs/restart/resumed_job.h"
#include "jobs/saved_run.h"
#include "launch/signals.h"
#include "recipe/load/load.h"
#include "recipe/run_folders.h"
#include "runs/events_jsonl.h"
#include "runs/metrics_csv.h"
#include "runs/state_json.h"
#include "train/catalogs.h"
#include "train/loop/completion.h"
#include "train/results/ending.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// Whether a run is complete and its record says so: then nothing is to be done, and how to ask for
/// more is logged.
bool is_complete(const SavedRun& run, const std::string& folder, int rank) {
  if (run.checkpoint.empty()) return false;
  const auto code = run_end(run.folder).exit_code;
  if (code != static_cast<int>(Exit::done) && code != static_cast<int>(Exit::expect)) return false;
  const auto state = read_saved_state(run.checkpoint);
  const auto why = completion(run.recipe, state);
  if (why.empty()) return false;
  if (rank != 0) return true;
  log::info("this run is complete ({}); to train on: ddptrain resume {} '{}'", why, folder,
            extension(run.recipe, state));
  return true;
}

/// Whether the chosen checkpoint is not where the run stands.
bool is_earlier(const SavedRun& run, const std::string& which) {
  if (which == "last" || run.checkpoint.empty()) return false;
  const auto newest = newest_of(run.folder).checkpoint;
  return !newest.empty() && fs::canonical(newest) != fs::canonical(run.checkpoint);
}

/// The chosen checkpoint, and the best of the run until then.
void copy_checkpoints(const SavedRun& run, const std::string& folder) {
  const auto root = folder + "/checkpoints";
  const auto chosen = copy_checkpoint(run.checkpoint, root);
  const auto best = read_saved_state(chosen).best;
  if (!best) return;
  const auto name = checkpoint_name(best->step);
  const auto from = run.folder + "/checkpoints/" + name;
  if (!fs::exists(root + "/" + name) && (!fs::exists(from) || !damages_of(from).empty())) return;
  if (!fs::exists(root + "/" + name)) copy_checkpoint(from, root);
  link_best(root, root + "/" + name);
}

void copy_history(const SavedRun& run, const std::string& folder) {
  const auto step = read_saved_state(run.checkpoint).position.step;
  copy_metrics(run.folder, folder, step);
  copy_events(run.folder, folder, step);
}

/// A new run folder with what the run had at the chosen checkpoint. The run itself stays as it is.
std::string make_branch(const Job& job, const SavedRun& run) {
  const auto folder = make_run_folder(job.recipe.output.dir, job.start);
  copy_checkpoints(run, folder);
  copy_history(run, folder);
  log::info("run folder {}: a new run from {} of {}, which keeps its later checkpoints",
            typed_path(folder), job.start.origin->checkpoint, run.folder);
  return folder;
}

int start_branch(Job& job, const SavedRun& run, const Topology& outer, log::Level level) {
  job.start.origin = {run.folder, fs::path(run.checkpoint).filename().string()};
  const auto recipe = run.folder + "/" + kRecipeYaml;
  job.start.sources = {{recipe, read_text(recipe)}};
  job.checkpoint = run.checkpoint;
  if (outer.joined()) {
    job.make_folder = [&] { return make_branch(job, run); };
    return start_job(job, outer, level);
  }
  const HeldSignals held;
  job.folder = make_branch(job, run);
  job.checkpoint = job.folder + "/checkpoints/" + job.start.origin->checkpoint;
  const auto lock = lock_run(job.folder);
  return start_job(job, outer, level);
}

/// --from-scratch is for a run that has nothing left to continue from.
void require_nothing_left(const SavedRun& run) {
  if (!run.checkpoint.empty())
    throw Error(Exit::recipe,
                "--from-scratch: this run can continue from '{}'; 'ddptrain run {}/{}' starts "
                "another one from the first step",
                run.checkpoint, run.folder, kRecipeYaml);
}

void log_where(const Job& job, bool from_scratch) {
  if (job.checkpoint)
    log::info("resuming from {}", *job.checkpoint);
  else if (from_scratch)
    log::info("training from the first step (--from-scratch)");
  else if (!job.without_local.empty())
    log::info(
        "no checkpoint of the run folder is intact: looking for those of the nodes "
        "(checkpoint.local)");
  else if (job.recipe.checkpoint.local)
    log::info("the run folder has no checkpoint yet");
  else
    log::info("the run was interrupted before its first checkpoint: starting from the beginning");
}

// A rank of a joined start leaves with the others: what refuses the lock is for all to hear.
std::unique_ptr<FileLock> lock_as_rank(int rank, const std::string& folder, std::string& refusal) {
  if (rank != 0) return nullptr;
  try {
    return lock_run(folder);
  } catch (const Error& error) {
    refusal = error.what();
    return nullptr;
  }
}

/// Why the run cannot go on but from a local checkpoint; empty: it can, or starts from scratch.
std::string require_start(const SavedRun& run, bool from_scratch) {
  if (from_scratch) return require_nothing_left(run), "";
  if (!run.checkpoint.empty()) return "";
  return checkpoint_or_local({run.folder, {}, run.damages}, run.recipe).without_local;
}

/// By the flags, the recipe of the run with its overrides, and the environment. Problems of the
/// recipe are reported by open_run.
Topology topology_of_resumed(const Arguments& arguments,
                             const std::vector<std::string>& overrides) {
  const auto loaded =
      load_recipe({run_folder(arguments.words[0]) + "/" + kRecipeYaml}, overrides, all_catalogs());
  return topology_given(arguments, loaded.recipe.parallel);
}

/// What flags and overrides say of the job.
void take_arguments(Job& job, const Arguments& arguments, bool has_overrides) {
  job.start = run_start(job, arguments, {});
  job.rewrite_recipe = job.rewrite_recipe || has_overrides;
  job.set_aside = arguments.has("--from-scratch");
  job.may_be_local = arguments.value("--checkpoint", "last") == "last";
}

int resume(const Arguments& arguments) {
  const auto words = split_words({arguments.words.begin() + 1, arguments.words.end()});
  const auto traces = traces_of(arguments);
  const auto outer = topology_of_resumed(arguments, words.overrides);
  // Before the checkpoint is chosen: ranks of a killed launcher may be writing one.
  std::string refusal;
  const auto home = run_folder(arguments.words[0]);
  const auto lock = outer.joined() ? lock_as_rank(outer.rank, home, refusal) : lock_run(home);
  const auto which = arguments.value("--checkpoint", "last");
  const bool from_scratch = arguments.has("--from-scratch");
  const auto overrides =
      names_devices(words.overrides) ? with_devices_open(home, words.overrides) : words.overrides;
  auto opened = open_run(arguments.words[0], overrides, which);
  const auto without_local = require_start(opened, from_scratch);
  if (which != "last") verify_checkpoint(opened.checkpoint);
  if (is_complete(opened, arguments.words[0], outer.rank)) return 0;
  auto [run, job] = on_devices_here(std::move(opened), words.overrides, which, outer);
  job.traces = traces;
  keep_marks(job, run.folder);
  take_arguments(job, arguments, !words.overrides.empty());
  job.without_local = without_local;
  if (outer.rank == 0) log_changes(run.folder, job);
  if (is_earlier(run, which)) return start_branch(job, run, outer, arguments.level);
  job.folder = run.folder;
  job.refusal = refusal;
  if (!run.checkpoint.empty()) job.checkpoint = run.checkpoint;
  if (outer.rank == 0) log_where(job, from_scratch);
  return start_job(job, outer, arguments.level);
}

}  // namespace

Verb resume_verb() {
  return {
      .name = "resume",
      .usage = "RUN_FOLDER [key=value...]",
      .summary = "continue an interrupted run, exactly",
      .flags = {{"--checkpoint", "WHICH",
                 "last (default), best, or a name such as step-00000740; from an earlier one than "
                 "the last a new run folder continues"},
                {"--from-scratch", "",
                 "where all checkpoints are damaged: set them aside, train from the first step"},
                kProfile,
                kTrace,
                kNodes,
                kNodeRank,
                kAddress},
      .min_words = 1,
      .run = resume};
}

}  // namespace ddptrain
