// `resume RUN_FOLDER [key=value...]`: goes on where a run was cut, exactly.
#include "base/error.h"
#include "base/files.h"
#include "config/reader.h"
#include "jobs/job.h"
#include "jobs/saved_run.h"
#include "recipe/changes.h"

namespace ddptrain {
namespace {

void say_changes(const std::string& folder, const std::string& recipe_text) {
  const auto file = folder + "/recipe.yaml";
  const auto before = read_yaml(read_text(file), file).tree;
  for (const auto& change : changes(before, read_yaml(recipe_text, file).tree))
    log::info("changed: " + to_text(change));
}

int resume(const Arguments& arguments) {
  const auto words = split_words({arguments.words.begin() + 1, arguments.words.end()});
  const auto outer = topology_from_environment();
  // Before the checkpoint is chosen: ranks of a killed launcher may be writing one.
  const auto lock = outer.joined() ? nullptr : lock_run(run_folder(arguments.words[0]));
  auto run = open_run(arguments.words[0], words.overrides, arguments.value("--checkpoint", "last"));
  auto job = make_job(run.recipe, run.tree, outer);
  job.folder = run.folder;
  if (!run.checkpoint.empty()) job.checkpoint = run.checkpoint;
  if (outer.rank == 0) {
    say_changes(run.folder, job.recipe_text);
    log::info(job.checkpoint ? "resuming from " + *job.checkpoint
                             : "there is no checkpoint yet: starting from the beginning");
  }
  if (outer.joined()) return start_job(job, outer, arguments.level);
  note_resumed(run.folder, run_start(job, arguments, {}));
  if (!words.overrides.empty()) write_atomically(run.folder + "/recipe.yaml", job.recipe_text);
  return start_job(job, outer, arguments.level);
}

}  // namespace

Verb resume_verb() {
  return {
      .name = "resume",
      .usage = "RUN_FOLDER [key=value...]",
      .summary = "go on where a run was cut, exactly",
      .flags = {{"--checkpoint", "WHICH", "last (default), best, or a name such as step-00000740"}},
      .min_words = 1,
      .run = resume};
}

}  // namespace ddptrain
