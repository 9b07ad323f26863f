#include "runs/sweep_results.h"

#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

double number_or_nan(const Json& json) {
  return json.is_null() ? std::nan("") : json.get<double>();
}

SweepTrialResult trial_of(const Json& json, const std::vector<std::string>& keys) {
  SweepTrialResult trial;
  trial.number = json.at("trial");
  for (const auto& key : keys) trial.values.push_back(json.at("values").at(key));
  trial.value = number_or_nan(json.at("value"));
  trial.deviation = number_or_nan(json.at("deviation"));
  trial.best = number_or_nan(json.at("best"));
  trial.steps = json.at("steps");
  trial.state = json.at("state");
  trial.runs = json.at("runs");
  return trial;
}

SweepResults results_of(const Json& json) {
  SweepResults sweep;
  sweep.method = json.at("method");
  sweep.metric = json.at("metric");
  sweep.mode = json.at("mode") == "min" ? BestMode::min : BestMode::max;
  sweep.weights = json.value("weights", std::string("last weights"));
  sweep.keys = json.at("keys");
  for (const auto& [key, share] : json.at("importance").items())
    sweep.importance.emplace_back(key, number_or_nan(share));
  for (const auto& trial : json.at("trials")) sweep.trials.push_back(trial_of(trial, sweep.keys));
  return sweep;
}

}  // namespace

bool is_sweep(const std::string& folder) {
  std::error_code none;
  return fs::is_regular_file(folder + "/sweep.json", none);
}

SweepResults read_sweep_results(const std::string& folder) {
  const auto file = folder + "/trials.json";
  if (!fs::exists(file))
    throw Error(Exit::data, "'" + folder +
                                "' has no trials.json yet: its sweep has not ended; the same "
                                "'ddptrain sweep' resumes it");
  try {
    auto sweep = results_of(parse_json(read_text(file)));
    const fs::path path = fs::weakly_canonical(folder);
    sweep.folder = folder;
    sweep.name = (path.parent_path().filename() / path.filename()).string();
    return sweep;
  } catch (const Json::exception&) {
    throw Error(Exit::data, "'" + file + "' cannot be read as the results of a sweep");
  }
}

}  // namespace ddptrain
