#include "report/report_run.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files/files.h"
#include "base/secrets.h"
#include "base/text.h"
#include "recipe/run_folders.h"
#include "report/samples.h"
#include "runs/run_recipe.h"
#include "runs/sweep_results.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kMostSource = std::size_t{1} << 20;

/// The text of a file of the run, with its damage where it cannot be read.
std::string text_of(ReportRun& run, const std::string& folder, const std::string& file) {
  try {
    return read_text(folder + "/" + file);
  } catch (const Error& error) {
    run.damages.push_back(fs::exists(folder + "/" + file) ? std::string(error.what())
                                                          : file + " is missing");
    return {};
  }
}

void take_recipe(ReportRun& run, const std::string& text) {
  run.recipe = without_secrets(text);
  if (auto options = RecipeReader().options(text))
    run.options = std::move(*options);
  else
    run.damages.emplace_back("recipe.yaml cannot be read");
}

void take_history(ReportRun& run, const std::string& text) {
  run.history = read_history(text);
  if (run.history.torn > 0)
    run.damages.push_back("events.jsonl: " + plural(run.history.torn, "line") + " cannot be read");
}

void take_data(ReportRun& run, const std::string& text) {
  try {
    const auto json = nlohmann::json::parse(text);
    for (const auto& split : json.at("splits"))
      run.splits.push_back({split.at("name"), split.at("samples"), split.at("counts")});
    run.data_classes = json.at("classes");
  } catch (const nlohmann::json::exception&) {
    run.splits.clear();
    run.damages.emplace_back("data.json cannot be read");
  }
}

/// A run that was killed, or whose record is torn, has what its events tell.
void take_scores(ReportRun& run) {
  auto& record = run.record;
  if (record.metrics.empty()) record.metrics = run.history.last;
  if (record.evaluated < 0) record.evaluated = run.history.last_step;
  run.scores = scores_of(record, run.options);
}

void take_transfer(ReportRun& run, const std::string& text) {
  try {
    run.transfer = transfer_of(text);
  } catch (const Error& error) {
    run.damages.emplace_back(error.what());
  }
}

/// Files as written; the command apart.
void take_sources(ReportRun& run, const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder + "/source", error))
    if (entry.is_regular_file(error)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  for (const auto& name : names) {
    auto text = without_secrets(read_beginning(folder + "/source/" + name, kMostSource));
    if (name == "command.sh")
      run.command = std::move(text);
    else
      run.sources.emplace_back(name, std::move(text));
  }
}

}  // namespace

ReportRun read_report_run(const std::string& folder) {
  const auto path = fs::weakly_canonical(folder).string();
  if (!fs::is_directory(path)) throw no_run_folder(folder);
  if (is_sweep(path))
    throw Error(Exit::data,
                "'" + folder + "' is a sweep's folder; a report is of one sweep or of runs");
  if (!fs::exists(path + "/run.json") && !fs::exists(path + "/recipe.yaml"))
    throw no_run_folder(folder);
  ReportRun run;
  run.record = read_run_record(path);
  if (!run.record.damage.empty()) run.damages.push_back(run.record.damage);
  take_recipe(run, text_of(run, path, "recipe.yaml"));
  take_history(run, text_of(run, path, "events.jsonl"));
  if (fs::exists(path + "/data.json")) take_data(run, text_of(run, path, "data.json"));
  if (fs::exists(path + "/transfer.json")) take_transfer(run, text_of(run, path, "transfer.json"));
  if (fs::exists(path + "/samples.json")) add_samples(run, text_of(run, path, "samples.json"));
  take_sources(run, path);
  take_scores(run);
  run.duration = duration_of(run.record, read_progress(path, false).time);
  return run;
}

}  // namespace ddptrain
