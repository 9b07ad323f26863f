#include "jobs/restart/resumed_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/text.h"
#include "config/catalog.h"
#include "config/yaml/reader.h"
#include "jobs/restart/other_devices.h"
#include "models/model.h"
#include "recipe/layers/changes.h"
#include "recipe/run_folders.h"
#include "runs/run_folder.h"

namespace ddptrain {
namespace {

void reopen(Resumed& resumed, const std::vector<std::string>& overrides, const std::string& which,
            const Topology& outer) {
  resumed.run = open_run(resumed.run.folder, overrides, which);
  resumed.job = make_job(resumed.run.recipe, resumed.run.tree, outer);
  resumed.job.rewrite_recipe = true;
}

Node recorded_tree(const std::string& folder) {
  const auto file = folder + "/" + kRecipeYaml;
  return read_yaml(read_text(file), file).tree;
}

bool follows_from_devices(const std::string& path) {
  constexpr const char* kOfDevices[] = {
      "batch.micro",    "batch.accumulate",    "batch.per_device",    "parallel.device",
      "parallel.nodes", "parallel.sync_bn",    "parallel.rendezvous", "parallel.timeout",
      "train.threads",  "train.channels_last", "parallel.restarts"};
  return std::ranges::any_of(kOfDevices,
                             [&](const char* option) { return path.starts_with(option); });
}

/// The recipe as it would be on these devices with the global batch of a run. An Error where they
/// cannot share it.
Job on_these_devices(Recipe recipe, const Node& tree, std::int64_t global, const Topology& outer) {
  recipe.batch.global = global;
  recipe.batch.per_device.reset();
  recipe.batch.micro = {};
  recipe.batch.accumulate = {};
  return make_job(recipe, tree, outer);
}

/// What the run wrote down of its batch gives way to the number of devices: the size of a pass, or
/// their number. Statistics of batch norm are those of a pass, whose samples stay the same then.
std::vector<std::vector<std::string>> ways_to_share(const Recipe& recipe, std::int64_t devices) {
  const auto number = fmt::format("parallel.devices={}", devices);
  const auto* model = catalog<Model>().find(recipe.model.type());
  if (!model || model->has("batch_norm")) return {{number}, {number, "batch.micro=auto"}};
  return {{number},
          {number, "batch.accumulate=auto"},
          {number, "batch.micro=auto", "batch.accumulate=auto"}};
}

Resumed resumed_on(const std::string& folder, std::int64_t devices, const Topology& outer) {
  Resumed resumed{open_run(folder, {}, "last"), {}};
  std::exception_ptr why;
  for (const auto& given : ways_to_share(resumed.run.recipe, devices)) {
    try {
      reopen(resumed, with_devices_open(folder, given), "last", outer);
      keep_marks(resumed.job, folder);
      return resumed;
    } catch (const Error&) {
      if (!why) why = std::current_exception();
    }
  }
  std::rethrow_exception(why);
}

}  // namespace

Resumed on_devices_here(SavedRun run, const std::vector<std::string>& given,
                        const std::string& which, const Topology& outer) {
  Resumed resumed{std::move(run), {}};
  try {
    resumed.job = make_job(resumed.run.recipe, resumed.run.tree, outer);
    return resumed;
  } catch (const Error& error) {
    if (!is_of_devices(error)) throw;
    const auto home = resumed.run.folder;
    for (const auto& tried : tried_on_devices(home, given)) {
      try {
        reopen(resumed, tried, which, outer);
        return resumed;
      } catch (const Error&) {  // the first error is the one reported
      }
    }
    throw;
  }
}

void keep_marks(Job& job, const std::string& folder) {
  job.record = [record = std::move(job.record), before = read_text(folder + "/" + kRecipeYaml)](
                   Recipe found) { return with_marks_of(before, record(std::move(found))); };
  job.recipe_text = job.record(job.recipe);
}

void log_changes(const std::string& folder, const Job& job) {
  const auto all = changes(recorded_tree(folder), read_yaml(job.recipe_text, kRecipeYaml).tree);
  for (const auto& change : all) log::info("changed: {}", to_text(change));
  const auto changed = [&](const std::string& start) {
    return std::ranges::any_of(
        all, [&](const Change& change) { return change.path.starts_with(start); });
  };
  if (!changed("parallel.device") && !changed("parallel.mode")) return;
  log::info(
      "on other devices than before: the global batch ({}), the order of samples{} and the "
      "learning rates stay; results are the same up to rounding",
      job.placement.batch.global, changed("train.precision") ? "" : ", the precision");
}

std::optional<Resumed> unfinished_on_other_devices(const Recipe& recipe, const Node& tree,
                                                   const Topology& outer) {
  for (const auto& folder : unfinished_runs(recipe.output.dir, recipe.name)) {
    const auto before = recorded_tree(folder);
    const auto* batch = before.find("batch");
    const auto* written = batch ? batch->find("global") : nullptr;
    const auto global = written ? parse_integer(written->text).value_or(0) : 0;
    if (global < 1 || (recipe.batch.global && *recipe.batch.global != global)) continue;
    const auto here = on_these_devices(recipe, tree, global, outer);
    const auto all = changes(before, read_yaml(here.recipe_text, kRecipeYaml).tree);
    if (std::ranges::all_of(all,
                            [](const Change& change) { return follows_from_devices(change.path); }))
      return resumed_on(folder, here.placement.devices(), outer);
  }
  return {};
}

}  // namespace ddptrain
