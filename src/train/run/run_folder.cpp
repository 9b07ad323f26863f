#include "train/run/run_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/clock.h"
#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/quoting.h"
#include "base/random.h"
#include "base/secrets.h"
#include "base/text.h"
#include "base/version.h"
#include "runs/run_history.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string json_path(const std::string& folder) { return folder + "/run.json"; }

Json read_run(const std::string& folder) {
  auto json = Json::parse(read_text(json_path(folder)), nullptr, false);
  if (!json.is_object())
    throw Error(Exit::data, "'" + json_path(folder) + "' is not the record of a run");
  return json;
}

void write_run(const std::string& folder, const Json& json) {
  write_atomically(json_path(folder),
                   json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

/// Nobody but the owner reads a text with the password of an address in it, or a `secret` one.
void write_kept(const std::string& path, const std::string& text, bool secret = false) {
  secret = secret || without_passwords(text) != text;
  AtomicFile file(path, secret ? AtomicFile::Readers::owner : AtomicFile::Readers::usual);
  file.write(text);
  file.commit();
}

std::vector<std::string> shown_command(std::vector<std::string> words) {
  for (auto& word : words) word = without_passwords(std::move(word));
  return words;
}

Json attempt(const RunStart& start) {
  return {{"launch", start.launch},
          {"started", utc_now()},
          {"began", nullptr},
          {"ended", nullptr},
          {"seconds", nullptr},
          {"result", nullptr},
          {"exit_code", nullptr},
          {"command", shown_command(start.command_line)},
          {"folder", fs::current_path().string()},
          {"ddptrain", version()},
          {"torch", torch_version()},
          {"compiler", __VERSION__},
          {"host", host_name()},
          {"device", start.device},
          {"ranks", start.ranks},
          {"replicas", start.replicas},
          {"threads", start.threads},
          {"metrics", Json::object()},
          {"evaluated", nullptr},
          {"best", nullptr}};
}

/// Of the recipe as it was asked for: training may decide more of what is `auto`, and the
/// recipe.yaml of the folder then differs.
std::string recipe_digest(const std::string& text) { return std::to_string(hash_text(text)); }

Json first_record(const RunStart& start) {
  Json json{{"format", 1},
            {"name", start.name},
            {"seed", start.seed},
            {"recipe_digest", recipe_digest(start.recipe_text)},
            {"data_digest", nullptr}};
  json.update(attempt(start));
  if (start.origin)
    json["origin"] = {{"run", start.origin->run}, {"checkpoint", start.origin->checkpoint}};
  json["attempts"] = Json::array();
  return json;
}

bool is_of(const RunStart& start, const Json& run) {
  return run.value("launch", Json()) == start.launch;
}

// Records of before there was "began" were made of runs that had.
bool has_begun(const Json& run) {
  const auto began = run.find("began");
  return began == run.end() || !began->is_null();
}

// Files of the same name in different folders are numbered apart.
void write_sources(const std::string& folder, const RunStart& start) {
  make_folders(folder);
  std::map<std::string, int> seen;
  for (const auto& source : start.sources) {
    const auto name = fs::path(source.file).filename().string();
    const int before = seen[name]++;
    write_kept(folder + "/" + (before ? std::to_string(before + 1) + "-" : "") + name, source.text,
               start.holds_secrets);
  }
  write_kept(folder + "/command.sh", "cd " + shell_word(fs::current_path().string()) + "\n" +
                                         shell_line(start.command_line) + "\n");
}

std::optional<std::int64_t> run_number(const fs::path& path) {
  return parse_integer(path.filename().string());
}

std::vector<std::pair<std::int64_t, std::string>> numbered_runs(const std::string& home) {
  std::vector<std::pair<std::int64_t, std::string>> runs;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(home, none))
    if (const auto number = run_number(entry.path())) runs.emplace_back(*number, entry.path());
  std::sort(runs.begin(), runs.end());
  return runs;
}

// mkdir succeeds for one of several programs that start at once.
std::string take_next_number(const std::string& home) {
  const auto runs = numbered_runs(home);
  for (auto number = runs.empty() ? 1 : runs.back().first + 1;; ++number) {
    char name[32];
    std::snprintf(name, sizeof name, "%03lld", static_cast<long long>(number));
    const auto path = home + "/" + name;
    if (::mkdir(path.c_str(), 0777) == 0) return path;
    if (errno != EEXIST)
      throw Error(Exit::data, "cannot make the run folder '" + path + "': " + std::strerror(errno) +
                                  " (output.dir)");
  }
}

void point_latest(const std::string& home, const std::string& folder) {
  // Some file systems have no links: nothing depends on it.
  static_cast<void>(replace_link(home + "/latest", fs::path(folder).filename()));
}

Json to_json(const NamedValues& values) {
  Json json = Json::object();
  for (const auto& [name, value] : values) json[name] = value;
  return json;
}

bool is_finished(const Json& run) {
  const auto code = run.value("exit_code", Json());
  return code == static_cast<int>(Exit::done) || code == static_cast<int>(Exit::expect);
}

bool is_free(const std::string& folder) {
  return FileLock(folder + "/.lock", FileLock::Wait::not_at_all).held();
}

bool is_unfinished(const std::string& folder, const std::string& recipe_text) {
  try {
    const auto run = read_run(folder);
    const bool same = run.contains("recipe_digest")
                          ? run["recipe_digest"] == recipe_digest(recipe_text)
                          : read_text(folder + "/recipe.yaml") == recipe_text;
    return same && has_begun(run) && !is_finished(run) && is_free(folder);
  } catch (const Error&) {
    return false;  // not a run of ours, or cut while it was being made
  }
}

/// Its record comes last: a folder without is half-made.
void fill(const std::string& folder, const RunStart& start) {
  write_recipe(folder, start.recipe_text);
  write_sources(folder + "/source", start);
  make_folders(folder + "/checkpoints");
  write_run(folder, first_record(start));
}

}  // namespace

std::string make_run_folder(const std::string& runs, const RunStart& start) {
  const auto home = fs::absolute(runs).lexically_normal().string() + "/" + start.name;
  make_folders(home);
  const auto folder = take_next_number(home);
  fill(folder, start);
  return folder;
}

void make_run_folder_at(const std::string& folder, const RunStart& start) {
  fs::remove_all(folder);
  make_folders(folder);
  fill(folder, start);
}

void write_recipe(const std::string& folder, const std::string& recipe_text) {
  write_kept(folder + "/recipe.yaml", recipe_text);
}

std::string launch_name() {
  return host_name() + " " + std::to_string(::getpid()) + " " + utc_now();
}

namespace {

/// One that was killed noted no end: it took until its last event, whose time is whole seconds.
Json attempt_before(const Json& run, const std::string& folder) {
  Json before;
  for (const auto* key :
       {"started", "began", "ended", "seconds", "result", "exit_code", "command", "host", "ranks"})
    before[key] = run.value(key, Json());
  if (!before["ended"].is_null() || !before["began"].is_string()) return before;
  const auto began = utc_seconds(before["began"].get<std::string>()),
             last = read_progress(folder, false).time;
  if (began <= 0 || last < began) return before;
  before["seconds"] = last - began;
  before["whole_seconds"] = true;
  return before;
}

}  // namespace

void begin_run(const std::string& folder, const RunStart& start) {
  auto json = read_run(folder);
  const bool first = !has_begun(json);
  if (!first && is_of(start, json)) return;
  if (!is_of(start, json)) {
    if (!first) json["attempts"].push_back(attempt_before(json, folder));
    json.update(attempt(start));
  }
  json["began"] = utc_now();
  json["threads"] = start.threads;
  if (start.new_recipe) json["recipe_digest"] = recipe_digest(start.recipe_text);
  write_run(folder, json);
  if (first) point_latest(fs::path(folder).parent_path().string(), folder);
}

void abandon_run(const std::string& folder, const RunStart& start, int exit_code, bool keep_logs) {
  std::error_code none;
  if (!fs::exists(json_path(folder), none)) return;
  auto json = read_run(folder);
  if (!is_of(start, json) || has_begun(json)) return;
  if (!keep_logs) {
    fs::remove_all(folder, none);
    fs::remove(fs::path(folder).parent_path(), none);  // where it is empty again
    return;
  }
  json["result"] = "failed to start";
  json["ended"] = utc_now();
  json["exit_code"] = exit_code;
  write_run(folder, json);
}

void set_checkpoints_aside(const std::string& folder) {
  const auto from = folder + "/checkpoints";
  std::error_code code;
  if (!fs::exists(from) || fs::is_empty(from)) return;
  int number = 1;
  while (fs::exists(from + ".damaged-" + std::to_string(number))) ++number;
  const auto to = from + ".damaged-" + std::to_string(number);
  fs::rename(from, to, code);
  if (code) throw Error(Exit::data, "cannot move '" + from + "': " + code.message());
  make_folders(from);
  log::info("the damaged checkpoints are in " + to);
}

void note_data(const std::string& folder, const std::string& digest) {
  auto json = read_run(folder);
  json["data_digest"] = digest;
  write_run(folder, json);
}

void note_result(const std::string& folder, const TrainingEnd& end) {
  auto json = read_run(folder);
  json["result"] = end.reason;
  json["metrics"] = to_json(end.metrics);
  json["evaluated"] = end.evaluated;
  json["seconds"] = end.seconds;
  write_run(folder, json);
}

void note_best(const std::string& folder, const BestEvaluation& best) {
  auto json = read_run(folder);
  json["best"] = {{"metric", best.metric},
                  {"mode", names(best.mode)[static_cast<std::size_t>(best.mode)]},
                  {"step", best.step},
                  {"metrics", to_json(best.values)}};
  write_run(folder, json);
}

void note_exit(const std::string& folder, const RunStart& start, int exit_code) {
  std::error_code none;
  if (!fs::exists(json_path(folder), none)) return;  // it was abandoned
  auto json = read_run(folder);
  if (!is_of(start, json) || !has_begun(json)) return;
  json["ended"] = utc_now();
  json["exit_code"] = exit_code;
  write_run(folder, json);
}

RunRecord run_end(const std::string& folder) {
  auto run = read_run_record(folder);
  if (!run.damage.empty()) throw Error(Exit::data, "'" + folder + "': " + run.damage);
  return run;
}

std::optional<std::string> unfinished_run(const std::string& runs, const std::string& name,
                                          const std::string& recipe_text) {
  auto found = numbered_runs(fs::absolute(runs).lexically_normal().string() + "/" + name);
  for (auto run = found.rbegin(); run != found.rend(); ++run)
    if (is_unfinished(run->second, recipe_text)) return run->second;
  return {};
}

std::unique_ptr<FileLock> lock_run(const std::string& folder) {
  constexpr int tries = 60;
  for (int i = 0; i < tries; ++i) {
    auto lock = std::make_unique<FileLock>(folder + "/.lock", FileLock::Wait::not_at_all);
    if (lock->held()) return lock;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  throw Error(Exit::data, "another process is working in the run folder '" + folder + "'");
}

}  // namespace ddptrain
