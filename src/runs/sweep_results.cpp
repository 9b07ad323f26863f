#include "runs/sweep_results.h"

#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "runs/json_fields.h"

namespace ddptrain {

/// All but its values, which are under the keys of the sweep.
template <class Fields>
void fields(SweepTrialResult& trial, Fields& f) {
  f("value", trial.value);
  f("deviation", trial.deviation);
  f("best", trial.best);
  f.added("rung", trial.rung, std::int64_t{-1});
  f("steps", trial.steps);
  f("state", trial.state);
  f("runs", trial.runs);
  f.added("error", trial.error, std::string());
}

namespace {

namespace fs = std::filesystem;
constexpr const char* kTrialsJson = "/trials.json";

Json json_of(const SweepTrialResult& trial, const std::vector<std::string>& keys) {
  Json json{{"trial", trial.number}, {"values", Json::object()}};
  for (std::size_t i = 0; i < keys.size(); ++i) json["values"][keys[i]] = trial.values[i];
  json.update(ToJson::value(trial));
  return json;
}

SweepTrialResult trial_of(const Json& json, const std::vector<std::string>& keys) {
  SweepTrialResult trial;
  trial.number = json.at("trial");
  for (const auto& key : keys) trial.values.push_back(json.at("values").at(key));
  FromJson(json).read(json, trial);
  return trial;
}

SweepResults results_of(const Json& json) {
  SweepResults sweep;
  sweep.method = json.at("method");
  sweep.metric = json.at("metric");
  sweep.mode = json.at("mode") == "min" ? BestMode::min : BestMode::max;
  sweep.weights = json.value("weights", std::string("last weights"));
  sweep.keys = json.at("keys");
  FromJson(json).read(json.at("importance"), sweep.importance);
  for (const auto& trial : json.at("trials")) sweep.trials.push_back(trial_of(trial, sweep.keys));
  return sweep;
}

}  // namespace

void write_sweep_results(const SweepResults& sweep, const std::string& folder) {
  Json json{{"format", 1},
            {"method", sweep.method},
            {"metric", sweep.metric},
            {"mode", names(sweep.mode)[static_cast<std::size_t>(sweep.mode)]},
            {"weights", sweep.weights},
            {"keys", sweep.keys},
            {"rungs", sweep.rungs},
            {"importance", ToJson::value(sweep.importance)},
            {"trials", Json::array()}};
  for (const auto& trial : sweep.trials) json["trials"].push_back(json_of(trial, sweep.keys));
  write_atomically(folder + kTrialsJson, lossy_json_text(json, 2) + "\n");
}

bool is_sweep(const std::string& folder) {
  std::error_code none;
  return fs::is_regular_file(folder + "/sweep.json", none);
}

SweepResults read_sweep_results(const std::string& folder) {
  const auto file = folder + kTrialsJson;
  if (!fs::exists(file))
    throw Error(Exit::data,
                "'{}' has no trials.json yet: its sweep has not ended; the same 'ddptrain sweep' "
                "resumes it",
                folder);
  try {
    auto sweep = results_of(parse_json(read_text(file)));
    const fs::path path = fs::weakly_canonical(folder);
    sweep.folder = folder;
    sweep.name = (path.parent_path().filename() / path.filename()).string();
    return sweep;
  } catch (const Json::exception&) {
    throw Error(Exit::data, "'{}' cannot be read as the results of a sweep", file);
  }
}

}  // namespace ddptrain
