#include "runs/run_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
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
#include "recipe/run_folders.h"
#include "runs/run_history.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLock = "/.lock";
std::string host_name() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  return name;
}

/// Only the owner may read a text with the password of an address in it, or a `secret` one.
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

/// The last start becomes this one, which has not begun.
void take_start(RunJson& run, const RunStart& start) {
  run.launch = start.launch;
  run.started = utc_now();
  run.began = run.ended = run.result = std::nullopt;
  run.seconds = std::nullopt;
  run.exit_code = std::nullopt;
  run.command = shown_command(start.command_line);
  run.folder = fs::current_path().string();
  run.ddptrain = version();
  run.torch = torch_version();
  run.compiler = __VERSION__;
  run.host = host_name();
  run.device = start.device;
  run.ranks = start.ranks;
  run.replicas = start.replicas;
  run.threads = start.threads;
  run.transport = start.transport;
  run.metrics.clear();
  run.evaluated = std::nullopt;
  run.best = std::nullopt;
}

/// Of the recipe as it was asked for: training may decide more of what is `auto`, and the
/// recipe.yaml of the folder then differs.
std::string recipe_digest(const std::string& text) { return std::to_string(hash_text(text)); }

RunJson first_record(const RunStart& start) {
  RunJson run;
  run.name = start.name;
  run.seed = start.seed;
  run.recipe_digest = recipe_digest(start.recipe_text);
  run.origin = start.origin;
  take_start(run, start);
  return run;
}

bool is_of(const RunStart& start, const RunJson& run) { return run.launch == start.launch; }

/// One that was killed noted no end: it took until its last event, whose time is whole seconds.
EarlierStart as_earlier(const RunJson& run, const std::string& folder) {
  EarlierStart before{run.started,   run.began,   run.ended, run.seconds, run.result,
                      run.exit_code, run.command, run.host,  run.ranks,   false};
  const auto began = utc_seconds(run.began.value_or(""));
  if (began <= 0) before.began = std::nullopt;
  if (before.ended || began <= 0) return before;
  const auto last = read_progress(folder, false).time;
  if (last < began) return before;
  before.seconds = last - began;
  before.whole_seconds = true;
  return before;
}

// Files of the same name in different folders are numbered apart.
void write_sources(const std::string& folder, const RunStart& start) {
  make_folders(folder);
  std::map<std::string, int> seen;
  for (const auto& source : start.sources) {
    const auto name = fs::path(source.file).filename().string();
    const int before = seen[name]++;
    write_kept(folder + "/" + (before ? fmt::format("{}-", before + 1) : "") + name, source.text,
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
      throw Error(Exit::data, "cannot make the run folder '{}': {} (output.dir)", path,
                  std::strerror(errno));
  }
}

void point_latest(const std::string& home, const std::string& folder) {
  // Some file systems have no links: nothing depends on it.
  static_cast<void>(replace_link(home + "/latest", fs::path(folder).filename()));
}

bool has_finished(const RunJson& run) {
  return run.exit_code == static_cast<int>(Exit::done) ||
         run.exit_code == static_cast<int>(Exit::expect);
}

bool is_unfinished(const std::string& folder) {
  try {
    const auto run = read_run_json(folder);
    return has_begun(run) && !has_finished(run) && !is_locked(folder);
  } catch (const Error&) {
    return false;  // not a run of ours, or cut while it was being made
  }
}

bool is_of_recipe(const std::string& folder, const std::string& recipe_text) {
  try {
    const auto run = read_run_json(folder);
    return run.recipe_digest ? *run.recipe_digest == recipe_digest(recipe_text)
                             : read_text(folder + "/" + kRecipeYaml) == recipe_text;
  } catch (const Error&) {
    return false;
  }
}

/// Its record comes last: a folder without is half-made.
void fill(const std::string& folder, const RunStart& start) {
  write_recipe(folder, start.recipe_text);
  write_sources(folder + "/source", start);
  make_folders(folder + "/checkpoints");
  write_run_json(first_record(start), folder);
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
  write_kept(folder + "/" + kRecipeYaml, recipe_text);
}

std::string launch_name() { return fmt::format("{} {} {}", host_name(), ::getpid(), utc_now()); }

RunJson begin_run(const std::string& folder, const RunStart& start,
                  const std::string& data_digest) {
  auto run = read_run_json(folder);
  const bool first = !has_begun(run), again = !first && is_of(start, run);
  if (!first && !again) run.attempts.push_back(as_earlier(run, folder));
  if (!is_of(start, run)) take_start(run, start);
  if (again) {
    run.ended = std::nullopt;
    run.exit_code = std::nullopt;
  } else {
    run.began = utc_now();
    run.threads = start.threads;
    run.transport = start.transport;
    if (start.new_recipe) run.recipe_digest = recipe_digest(start.recipe_text);
  }
  run.data_digest = data_digest;
  write_run_json(run, folder);
  if (first) point_latest(fs::path(folder).parent_path().string(), folder);
  return run;
}

void end_run(const std::string& folder, RunJson run) {
  run.ended = utc_now();
  write_run_json(run, folder);
}

void note_exit(const std::string& folder, const RunStart& start, int exit_code) {
  if (!holds_run(folder)) return;  // it was abandoned
  auto run = read_run_json(folder);
  if (!is_of(start, run) || !has_begun(run) || run.exit_code == exit_code) return;
  run.ended = utc_now();
  run.exit_code = exit_code;
  write_run_json(run, folder);
}

void abandon_run(const std::string& folder, const RunStart& start, int exit_code, bool keep_logs) {
  if (!holds_run(folder)) return;
  auto run = read_run_json(folder);
  if (!is_of(start, run) || has_begun(run)) return;
  if (!keep_logs) {
    std::error_code none;
    fs::remove_all(folder, none);
    fs::remove(fs::path(folder).parent_path(), none);  // where it is empty again
    return;
  }
  run.result = "failed to start";
  run.ended = utc_now();
  run.exit_code = exit_code;
  write_run_json(run, folder);
}

void set_checkpoints_aside(const std::string& folder) {
  const auto from = folder + "/checkpoints";
  std::error_code code;
  if (!fs::exists(from) || fs::is_empty(from)) return;
  int number = 1;
  while (fs::exists(fmt::format("{}.damaged-{}", from, number))) ++number;
  const auto to = fmt::format("{}.damaged-{}", from, number);
  fs::rename(from, to, code);
  if (code) throw Error(Exit::data, "cannot move '{}': {}", from, code.message());
  make_folders(from);
  log::info("the damaged checkpoints are in {}", to);
}

RunRecord run_end(const std::string& folder) {
  auto run = read_run_record(folder);
  if (!run.damage.empty()) throw Error(Exit::data, "'{}': {}", folder, run.damage);
  return run;
}

std::vector<std::string> unfinished_runs(const std::string& runs, const std::string& name) {
  auto found = numbered_runs(fs::absolute(runs).lexically_normal().string() + "/" + name);
  std::vector<std::string> unfinished;
  for (auto run = found.rbegin(); run != found.rend(); ++run)
    if (is_unfinished(run->second)) unfinished.push_back(run->second);
  return unfinished;
}

std::optional<std::string> unfinished_run(const std::string& runs, const std::string& name,
                                          const std::string& recipe_text) {
  for (const auto& folder : unfinished_runs(runs, name))
    if (is_of_recipe(folder, recipe_text)) return folder;
  return {};
}

bool is_run_lock(const std::string& path) { return path.ends_with(kLock); }

bool is_locked(const std::string& folder) { return FileLock::is_taken(folder + kLock); }

std::unique_ptr<FileLock> lock_run(const std::string& folder) {
  constexpr int tries = 60;
  for (int i = 0; i < tries; ++i) {
    auto lock = std::make_unique<FileLock>(folder + kLock, FileLock::Wait::not_at_all);
    if (lock->held()) return lock;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  throw Error(Exit::data, "another process is working in the run folder '{}'", folder);
}

}  // namespace ddptrain
