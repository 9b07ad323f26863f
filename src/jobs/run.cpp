// `run RECIPE... [key=value...]`: the whole story, from files to an exit code; with --repeat N one
// run after the other, on the seeds from the recipe's own upwards.
#include "base/error.h"
#include "base/output/print.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "cli/problems.h"
#include "cli/verb.h"
#include "jobs/job.h"
#include "jobs/saved_run.h"
#include "launch/signals.h"
#include "recipe/load/load.h"
#include "train/catalogs.h"
#include "train/run/repetition.h"

namespace ddptrain {
namespace {

constexpr std::int64_t kMostRuns = 1000;

std::int64_t count_of(const Arguments& arguments) {
  const auto count = parse_integer(arguments.value("--repeat"));
  if (!count || *count < 2 || *count > kMostRuns)
    throw Error(Exit::recipe, "--repeat: '" + arguments.value("--repeat") +
                                  "' is not a number of runs from 2 to " +
                                  std::to_string(kMostRuns));
  return *count;
}

/// The recipe with `more` overrides behind those given; nothing where it has errors, which are
/// said.
std::optional<Job> make_seeded(const Arguments& arguments, const std::string& more) {
  auto words = split_words(arguments.words);
  if (!more.empty()) words.overrides.push_back(more);
  auto loaded = load_recipe(words.files, words.overrides, all_catalogs());
  apply_strict(loaded.problems, arguments);
  if (more.empty()) say_problems(loaded.problems);
  if (has_errors(loaded.problems)) return {};
  auto job = make_job(loaded.recipe, loaded.tree, {});
  job.results_to_stdout = false;  // the table of all seeds is the result
  job.start = run_start(job, arguments, std::move(loaded.sources));
  job.start.holds_secrets = reported(loaded.problems, "literal-secret");
  return job;
}

/// A seed's run may end so, and the next one still tells something.
bool is_result(int code) {
  return code == static_cast<int>(Exit::done) || code == static_cast<int>(Exit::expect) ||
         code == static_cast<int>(Exit::non_finite);
}

int worse(int a, int b) {
  const auto weight = [](int code) {
    if (!is_result(code)) return 3;
    if (code == static_cast<int>(Exit::non_finite)) return 2;
    return code == static_cast<int>(Exit::expect) ? 1 : 0;
  };
  return weight(b) > weight(a) ? b : a;
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

int begin_seed(Job& job, Repetition& repetition, log::Level level) {
  const HeldSignals held;
  job.folder = make_run_folder(job.recipe.output.dir, job.start);
  const auto lock = lock_run(job.folder);
  repetition.add(job.folder);
  log::info("seed " + std::to_string(job.start.seed) + ": run folder " + job.folder);
  return start(job, level);
}

/// A run of an earlier start of this repetition: done, or to be continued.
int take_up(Job& job, const std::string& folder, log::Level level) {
  const auto head = "seed " + std::to_string(job.start.seed) + ": ";
  const auto lock = lock_run(folder);
  const auto ended = run_end(folder);
  if (ended.exit_code && is_result(*ended.exit_code)) {
    log::info(head + "done in " + folder);
    return *ended.exit_code;
  }
  job.folder = folder;
  job.checkpoint = checkpoint_to_resume(newest_of(folder));
  log::info(head + "going on in " + folder);
  return start(job, level);
}

void print_results(const std::vector<std::string>& folders, std::int64_t first_seed) {
  std::vector<SeedResult> results;
  for (const auto& folder : folders) {
    auto ended = run_end(folder);
    results.push_back({first_seed + static_cast<std::int64_t>(results.size()),
                       std::move(ended.metrics), std::move(ended.best)});
  }
  print_lines(seeds_table(results));
  print_lines(best_seeds_table(results));
}

/// Each seed's run has a folder of its own. At the end prints metrics per seed with mean and
/// deviation, and returns the worst exit code. Diverging and missed expectations are results and
/// the next seed follows; anything else ends the repetition, which the same command takes up again.
int run_repeated(const Arguments& arguments) {
  const auto count = count_of(arguments);
  if (topology_from_environment().joined())
    throw Error(
        Exit::recipe,
        "--repeat starts its ranks itself; under another launcher give each run its 'seed='");
  const auto first = make_seeded(arguments, {});
  if (!first) return static_cast<int>(Exit::recipe);
  const auto& recipe = first->recipe;
  log::info(to_text(first->placement.batch));
  Repetition repetition(recipe.output.dir, recipe.name, first->recipe_text, count);
  const auto begun = repetition.folders();
  int worst = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    auto job = make_seeded(arguments, "seed=" + std::to_string(recipe.seed + i));
    DDP_CHECK(job, "a seed made a recipe wrong");
    const auto at = static_cast<std::size_t>(i);
    const int code = at < begun.size() ? take_up(*job, begun[at], arguments.level)
                                       : begin_seed(*job, repetition, arguments.level);
    worst = worse(worst, code);
    if (is_result(code)) continue;
    log::info("the same command goes on with seed " + std::to_string(recipe.seed + i));
    return code;
  }
  print_results(repetition.folders(), recipe.seed);
  repetition.finish();
  return worst;
}

void say_unfinished(const Job& job) {
  const auto found = unfinished_run(job.recipe.output.dir, job.recipe.name, job.recipe_text);
  if (found)
    log::info("an unfinished run of this recipe is in " + *found + "; 'ddptrain resume " + *found +
              "' goes on with it");
}

int run(const Arguments& arguments) {
  const auto words = split_words(arguments.words);
  if (arguments.has("--repeat")) return run_repeated(arguments);
  auto loaded = load_recipe(words.files, words.overrides, all_catalogs());
  apply_strict(loaded.problems, arguments);
  if (say_problems(loaded.problems)) return static_cast<int>(Exit::recipe);
  const auto outer = topology_from_environment();
  auto job = make_job(loaded.recipe, loaded.tree, outer);
  job.start = run_start(job, arguments, std::move(loaded.sources));
  job.start.holds_secrets = reported(loaded.problems, "literal-secret");
  if (outer.rank == 0) {
    say_unfinished(job);
    log::info(to_text(job.placement.batch));
  }
  if (outer.joined()) {
    std::unique_ptr<FileLock> lock;  // of rank 0, which is asked for the folder
    job.make_folder = [&] {
      auto folder = make_run_folder(job.recipe.output.dir, job.start);
      lock = lock_run(folder);
      return folder;
    };
    return start_job(job, outer, arguments.level);
  }
  const HeldSignals held;
  job.folder = make_run_folder(job.recipe.output.dir, job.start);
  log::info("run folder " + job.folder);
  const auto lock = lock_run(job.folder);
  return start_job(job, outer, arguments.level);
}

}  // namespace

Verb run_verb() {
  return {
      .name = "run",
      .usage = "RECIPE... [key=value...]",
      .summary = "train; on several devices starts the ranks itself",
      .flags = {{"--repeat", "N", "N runs on seeds from the recipe's own upwards, and their mean"},
                kStrict},
      .min_files = 1,
      .run = run};
}

}  // namespace ddptrain
