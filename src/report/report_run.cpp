#include "report/report_run.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files/files.h"
#include "base/secrets.h"
#include "base/text.h"
#include "config/yaml/reader.h"
#include "report/events.h"
#include "report/samples.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

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

/// 0 where the text is no time such as "2026-03-01T12:34:56Z".
double seconds_of(const Json& json, const char* key) {
  std::tm time{};
  const auto text = json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
  return ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &time)
             ? static_cast<double>(::timegm(&time))
             : 0;
}

std::string scalar_text(const Json& json) {
  return json.is_string() ? json.get<std::string>() : json.dump();
}

void add_facts(ReportRun& run, const Json& json) {
  constexpr std::pair<const char*, const char*> kFacts[] = {{"started", "started"},
                                                            {"ended", "ended"},
                                                            {"exit_code", "exit code"},
                                                            {"seed", "seed"},
                                                            {"device", "device"},
                                                            {"ranks", "ranks"},
                                                            {"replicas", "replicas"},
                                                            {"threads", "threads per rank"},
                                                            {"host", "host"},
                                                            {"ddptrain", "ddptrain"},
                                                            {"torch", "LibTorch"},
                                                            {"compiler", "compiler"},
                                                            {"data_digest", "digest of the data"}};
  for (const auto& [key, title] : kFacts)
    if (json.contains(key) && json[key].is_primitive() && !json[key].is_null())
      run.facts.emplace_back(title, scalar_text(json[key]));
  if (json.contains("attempts") && json["attempts"].is_array() && !json["attempts"].empty())
    run.facts.emplace_back("earlier attempts", std::to_string(json["attempts"].size()));
}

std::string state_of(const Json& json) {
  const auto code = json.contains("exit_code") && json["exit_code"].is_number_integer()
                        ? json["exit_code"].get<int>()
                        : -1;
  std::string result = json.contains("result") && json["result"].is_string()
                           ? json["result"].get<std::string>()
                           : "";
  if (code > 0) return (result.empty() ? "failed" : result) + ", exit code " + std::to_string(code);
  return result.empty() ? "running, or killed" : result;
}

void take_best(ReportRun& run, const Json& best) {
  if (!best.is_object() || !best.contains("metric") || !best["metric"].is_string()) return;
  const auto metric = best["metric"].get<std::string>();
  const auto metrics = best.find("metrics");
  if (metrics == best.end() || !metrics->is_object() || !metrics->contains(metric)) return;
  if (!(*metrics)[metric].is_number() || !best.contains("step")) return;
  run.best_metric = metric;
  run.best_value = (*metrics)[metric].get<double>();
  run.best_step = best["step"].is_number() ? best["step"].get<double>() : 0;
}

void take_run_json(ReportRun& run, const std::string& text) {
  const auto json = Json::parse(text, nullptr, false);
  if (!json.is_object()) {
    if (!text.empty()) run.damages.emplace_back("run.json cannot be read");
    run.state = "not known";
    return;
  }
  run.state = state_of(json);
  run.ended_well = json.contains("exit_code") && json["exit_code"] == 0;
  const auto from = seconds_of(json, "began"), to = seconds_of(json, "ended");
  if (from > 0 && to >= from) run.seconds = std::max(1.0, to - from);
  add_facts(run, json);
  if (json.contains("best")) take_best(run, json["best"]);
}

void flatten(const Node& node, const std::string& key, ReportTexts& options) {
  if (node.is_map() && !node.members.empty()) {
    for (const auto& member : node.members)
      flatten(member.value, key.empty() ? member.key : key + "." + member.key, options);
  } else if (node.is_list() && !node.items.empty()) {
    for (std::size_t i = 0; i < node.items.size(); ++i)
      flatten(node.items[i], key + "[" + std::to_string(i) + "]", options);
  } else {
    const auto empty = node.is_map() ? "{}" : node.is_list() ? "[]" : "null";
    options.emplace_back(key, without_secrets(node.is_scalar() ? node.text : empty));
  }
}

void take_recipe(ReportRun& run, const std::string& text) {
  run.recipe = without_secrets(text);
  if (text.empty()) return;
  const auto read = read_yaml(text, "recipe.yaml");
  if (!read.problems.empty())
    run.damages.emplace_back("recipe.yaml cannot be read");
  else
    flatten(read.tree, "", run.options);
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
  if (!fs::is_directory(path))
    throw Error(Exit::data, "'" + folder +
                                "' is not there; a report is of run folders, such as "
                                "runs/NAME/001");
  if (!fs::exists(path + "/run.json") && !fs::exists(path + "/recipe.yaml"))
    throw Error(Exit::data, "'" + folder +
                                "' is no run folder: it has neither run.json nor "
                                "recipe.yaml");
  ReportRun run;
  const auto own = fs::path(path);
  run.name = own.parent_path().filename().string() + "/" + own.filename().string();
  take_run_json(run, text_of(run, path, "run.json"));
  take_recipe(run, text_of(run, path, "recipe.yaml"));
  add_events(run, text_of(run, path, "events.jsonl"));
  if (fs::exists(path + "/samples.json")) add_samples(run, text_of(run, path, "samples.json"));
  take_sources(run, path);
  return run;
}

}  // namespace ddptrain
