#include "jobs/saved_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/text.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/verify.h"
#include "cli/problems.h"
#include "recipe/load/load.h"
#include "recipe/run_folders.h"
#include "runs/events_jsonl.h"
#include "runs/local_folder.h"
#include "runs/newer_version.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

std::string choose_checkpoint(const std::string& root, const std::string& which) {
  const auto path = fs::path(root) / which;
  if (!fs::exists(path)) throw Error(Exit::data, "no checkpoint '{}'", path.string());
  return which == "best" ? fs::canonical(path).string() : path.string();
}

/// The weights of the newest checkpoint whose model.safetensors is as it was. One whose ranks have
/// files of their own has no such file, and may have damage anywhere.
std::string intact_weights(const NewestCheckpoint& newest) {
  const auto folders = checkpoint_folders(newest.run + "/checkpoints");
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) {
    const auto file = *folder + "/model.safetensors";
    if (!fs::exists(file)) continue;
    const bool damaged =
        std::any_of(newest.damages.begin(), newest.damages.end(), [&](const std::string& damage) {
          return damage.find(fmt::format("'{}'", file)) != std::string::npos ||
                 damage.find(fmt::format("'{}/MANIFEST.json'", *folder)) != std::string::npos;
        });
    if (!damaged) return file;
  }
  return "FILE";
}

/// What can be done where all are damaged, or gone.
std::string refusal_of(const NewestCheckpoint& newest) {
  return fmt::format(
      "{}; nothing was changed. 'ddptrain resume {} --from-scratch' sets them aside and trains "
      "from the first step; 'ddptrain run {}/{} model.weights={}' starts another run from weights",
      newest.damages.empty() ? fmt::format("the checkpoints of '{}' are gone", newest.run)
                             : fmt::format("no checkpoint of '{}' is intact", newest.run),
      newest.run, newest.run, kRecipeYaml, intact_weights(newest));
}

bool lacks_all(const NewestCheckpoint& newest) {
  return newest.checkpoint.empty() && (!newest.damages.empty() || has_saved(newest.run));
}

}  // namespace

NewestCheckpoint newest_of(const std::string& folder) {
  NewestCheckpoint newest{folder, {}, {}};
  std::vector<std::string> notes;
  if (const auto found = newest_checkpoint(folder + "/checkpoints", notes)) {
    newest.checkpoint = *found;
    for (const auto& note : notes) log::warning(note);
    return newest;
  }
  for (const auto& each : checkpoint_folders(folder + "/checkpoints"))
    for (auto& damage : damages_of(each)) newest.damages.push_back(std::move(damage));
  return newest;
}

std::optional<std::string> checkpoint_to_resume(const NewestCheckpoint& newest) {
  if (lacks_all(newest)) {
    for (const auto& damage : newest.damages) log::error(damage);
    throw Error(Exit::data, refusal_of(newest));
  }
  if (newest.checkpoint.empty()) return {};
  return newest.checkpoint;
}

ResumedFrom checkpoint_or_local(const NewestCheckpoint& newest, const Recipe& recipe) {
  const bool has_local = recipe.checkpoint.local && known_local_folder_name(newest.run);
  if (!has_local || !lacks_all(newest)) return {checkpoint_to_resume(newest), {}};
  for (const auto& damage : newest.damages) log::warning(damage);
  return {{}, refusal_of(newest)};
}

bool is_run_folder(const std::string& folder) {
  return fs::is_regular_file(folder + "/" + kRecipeYaml) &&
         fs::is_directory(folder + "/checkpoints");
}

std::string run_folder(const std::string& folder) {
  if (!fs::exists(folder + "/" + kRecipeYaml)) throw no_run_folder(folder);
  return fs::canonical(folder).string();
}

SavedRun open_run(const std::string& folder, const std::vector<std::string>& overrides,
                  const std::string& which) {
  const auto home = run_folder(folder);
  refuse_newer_run(home);
  const auto file = folder + "/" + kRecipeYaml;
  auto loaded = load_recipe({file}, overrides, all_catalogs());
  // What the run itself warned of is no news.
  std::erase_if(loaded.problems, [&](const Problem& problem) {
    return problem.severity != Severity::error && (overrides.empty() || problem.place.file == file);
  });
  if (say_problems(loaded.problems))
    throw Error(Exit::recipe, "the recipe of this run cannot be used with these changes");
  SavedRun run{home, std::move(loaded.recipe), std::move(loaded.tree), {}, {}};
  if (which == "last") {
    auto newest = newest_of(home);
    run.checkpoint = std::move(newest.checkpoint);
    run.damages = std::move(newest.damages);
  } else {
    run.checkpoint = choose_checkpoint(home + "/checkpoints", which);
  }
  return run;
}

std::vector<std::string> without_training(std::vector<std::string> overrides) {
  overrides.insert(overrides.begin(), {"~batch", "batch.per_device=1", "train.graph=auto"});
  return overrides;
}

ScoredWeights weights_of(const SavedRun& run) {
  std::error_code none;
  const auto chosen = fs::canonical(run.checkpoint, none).filename();
  const auto best = fs::read_symlink(run.folder + "/checkpoints/best", none).filename();
  bool is_last = true;
  for (const auto& entry : fs::directory_iterator(run.folder + "/checkpoints", none)) {
    const auto name = entry.path().filename();
    is_last = is_last && (name == "best" || name <= chosen);
  }
  const auto name = chosen.string();
  const auto step = parse_integer(name.substr(std::min(name.size(), name.rfind('-') + 1)));
  if (chosen == best)
    return {is_last ? "best and last weights" : "best weights", step.value_or(-1)};
  return {is_last ? "last weights" : "weights", step.value_or(-1)};
}

void require_checkpoint(const SavedRun& run) {
  if (!run.checkpoint.empty()) return;
  for (const auto& damage : run.damages) log::error(damage);
  throw Error(
      Exit::data, "no complete checkpoint in '{}/checkpoints'{}", run.folder,
      run.damages.empty() ? "; the run was interrupted before its first" : ": all are damaged");
}

}  // namespace ddptrain
