#include "jobs/saved_run.h"

#include <filesystem>

#include "base/error.h"
#include "base/log.h"
#include "checkpoint/checkpoint.h"
#include "cli/problems.h"
#include "recipe/load.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

std::string newest(const std::string& root) {
  std::vector<std::string> notes;
  const auto found = newest_checkpoint(root, notes);
  for (const auto& note : notes) log::warning(note);
  return found.value_or("");
}

std::string choose_checkpoint(const std::string& root, const std::string& which) {
  if (which == "last") return newest(root);
  const auto path = fs::path(root) / which;
  if (!fs::exists(path)) throw Error(Exit::data, "no checkpoint '" + path.string() + "'");
  return which == "best" ? fs::canonical(path).string() : path.string();
}

}  // namespace

std::string run_folder(const std::string& folder) {
  if (!fs::exists(folder + "/recipe.yaml"))
    throw Error(Exit::data, "'" + folder + "' is not a run folder: it has no recipe.yaml");
  return fs::canonical(folder).string();
}

SavedRun open_run(const std::string& folder, const std::vector<std::string>& overrides,
                  const std::string& which) {
  const auto home = run_folder(folder);
  const auto file = folder + "/recipe.yaml";
  auto loaded = load_recipe({file}, overrides, all_catalogs());
  if (say_problems(loaded.problems))
    throw Error(Exit::recipe, "the recipe of this run cannot be used with these changes");
  return {home, std::move(loaded.recipe), std::move(loaded.tree),
          choose_checkpoint(home + "/checkpoints", which)};
}

void require_checkpoint(const SavedRun& run) {
  if (run.checkpoint.empty())
    throw Error(Exit::data, "no complete checkpoint in '" + run.folder +
                                "/checkpoints'; the run was cut before its first");
}

}  // namespace ddptrain
