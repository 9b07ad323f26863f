#include "report/report_run.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "base/secrets.h"
#include "base/text.h"
#include "recipe/run_folders.h"
#include "runs/events_jsonl.h"
#include "runs/newer_version.h"
#include "runs/run_scores.h"
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
    run.record.options = std::move(*options);
  else
    run.damages.push_back(std::string(kRecipeYaml) + " cannot be read");
}

void take_history(ReportRun& run, const std::string& text) {
  run.history = read_history(text);
  if (run.history.torn > 0)
    run.damages.push_back(std::string(kEventsJsonl) + ": " + plural(run.history.torn, "line") +
                          " cannot be read");
}

/// What the text of a file holds, where the run has such a file and it can be read.
template <class Read>
auto read_file(ReportRun& run, const std::string& folder, const char* file, Read read)
    -> std::optional<decltype(read(std::string()))> {
  if (!fs::exists(folder + "/" + file)) return {};
  try {
    return read(text_of(run, folder, file));
  } catch (const Error& error) {
    run.damages.emplace_back(error.what());
    return {};
  }
}

/// A run that was killed, or whose record is torn, has what its events tell.
void take_scores(ReportRun& run) {
  auto& record = run.record;
  if (record.metrics.empty()) record.metrics = run.history.last;
  if (record.evaluated < 0) record.evaluated = run.history.last_step;
  record.scores = scores_of(record);
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
  refuse_newer_run(path);
  if (is_sweep(path))
    throw Error(Exit::data, "'{}' is a sweep's folder; a report is of one sweep or of runs",
                folder);
  if (!holds_run(path) && !fs::exists(path + "/" + kRecipeYaml)) throw no_run_folder(folder);
  ReportRun run;
  run.record = read_run(path);
  if (!run.record.damage.empty()) run.damages.push_back(run.record.damage);
  take_recipe(run, text_of(run, path, kRecipeYaml));
  take_history(run, text_of(run, path, kEventsJsonl));
  if (auto data = read_file(run, path, kDataJson, data_counts_of)) run.data = std::move(*data);
  run.transfer = read_file(run, path, kTransferJson, transfer_of);
  if (auto samples = read_file(run, path, kSamplesJson, samples_of_text))
    run.samples = std::move(*samples);
  take_sources(run, path);
  take_scores(run);
  return run;
}

}  // namespace ddptrain
