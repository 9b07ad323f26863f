// `run RECIPE... [key=value...]`: the whole story, from files to an exit code.
#include "base/error.h"
#include "cli/problems.h"
#include "jobs/job.h"
#include "jobs/repeat.h"
#include "recipe/load/load.h"
#include "train/catalogs.h"

namespace ddptrain {

namespace {

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
