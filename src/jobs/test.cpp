// `test RECIPE...`: recipes as tests. Runs each and compares its metrics with what it expects.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/files/files.h"
#include "base/files/scratch_folder.h"
#include "base/output/color.h"
#include "base/output/print.h"
#include "base/text.h"
#include "config/encode.h"
#include "jobs/job.h"
#include "jobs/quick.h"
#include "recipe/load/load.h"
#include "train/catalogs.h"
#include "train/run/expect.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// What came of one recipe.
struct Tested {
  std::string file;
  int code = 0;
  double seconds = 0;
  std::vector<Expectation> expected;
};

Loaded load(const std::string& file, const std::vector<std::string>& overrides) {
  auto loaded = load_recipe({file}, overrides, all_catalogs());
  if (!loaded.problems.empty()) print_problems(render(loaded.problems), stderr);
  return loaded;
}

/// In this process, which was forked for the recipe.
int run_in_this_process(const Job& job) {
  try {
    return start_job(job, {}, log::Level::quiet);
  } catch (const Error& error) {
    log::error(error.what(), error.place());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    log::error(std::string("a bug in ddptrain, please report it: ") + error.what());
    return static_cast<int>(Exit::bug);
  }
}

/// Cut down and read anew. What it expects holds for the whole run, not for two steps.
Loaded quick(const Loaded& whole, const std::string& folder) {
  const auto file = folder + "/recipe.yaml";
  write_atomically(file, to_yaml(quick_recipe(whole.tree, whole.recipe, folder)));
  return load_recipe({file}, {}, all_catalogs());
}

int run_one(Loaded& loaded, const Arguments& arguments, Tested& tested) {
  if (has_errors(loaded.problems)) return static_cast<int>(Exit::recipe);
  auto job = make_job(loaded.recipe, loaded.tree, {});
  job.start = run_start(job, arguments, std::move(loaded.sources));
  job.folder = make_run_folder(job.recipe.output.dir, job.start);
  const auto lock = lock_run(job.folder);
  const int code = run_in_this_process(job);
  if (fs::exists(job.folder + "/run.json"))  // else it failed to start
    tested.expected = expectations(job.recipe, run_end(job.folder).metrics);
  return code;
}

int run_quick(const Loaded& whole, const Arguments& arguments, Tested& tested) {
  const ScratchFolder scratch("ddptrain-test-");
  auto loaded = quick(whole, scratch.path());
  if (has_errors(loaded.problems)) print_problems(render(loaded.problems), stderr);
  return run_one(loaded, arguments, tested);
}

Tested test_one(const std::string& file, const RecipeWords& words, const Arguments& arguments) {
  Tested tested;
  tested.file = file;
  const auto begin = std::chrono::steady_clock::now();
  try {
    auto loaded = load(file, words.overrides);
    const bool cut = arguments.has("--quick") && !has_errors(loaded.problems);
    tested.code = cut ? run_quick(loaded, arguments, tested) : run_one(loaded, arguments, tested);
  } catch (const Error& error) {
    log::error(error.what(), error.place());
    tested.code = static_cast<int>(error.code());
  }
  tested.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return tested;
}

std::string to_text(const Tested& tested) {
  auto expected = nlohmann::json::array();
  for (const auto& one : tested.expected)
    expected.push_back({one.metric, one.bounds,
                        one.value ? nlohmann::json(format_number(*one.value)) : nlohmann::json(),
                        one.met});
  return nlohmann::json{{"code", tested.code}, {"seconds", tested.seconds}, {"expected", expected}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Nothing where the process ended before it could say.
std::optional<Tested> tested_from(const std::string& text, const std::string& file) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return {};
  Tested tested{file, json.at("code"), json.at("seconds"), {}};
  for (const auto& one : json.at("expected")) {
    Expectation expected;
    expected.metric = one.at(0);
    expected.bounds = one.at(1);
    if (one.at(2).is_string()) expected.value = parse_number(one.at(2).get<std::string>());
    expected.met = one.at(3);
    tested.expected.push_back(std::move(expected));
  }
  return tested;
}

std::string read_until_closed(int from) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t got; (got = ::read(from, buffer.data(), buffer.size())) != 0;) {
    if (got > 0) text.append(buffer.data(), static_cast<std::size_t>(got));
    if (got < 0 && errno != EINTR) break;
  }
  return text;
}

/// In a process of its own: each recipe meets the program fresh, and the memory that it took is
/// free again.
Tested test_apart(const std::string& file, const RecipeWords& words, const Arguments& arguments) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw Error(Exit::device, "cannot make a pipe");
  std::fflush(nullptr);
  const auto parent = ::getpid();
  const auto child = ::fork();
  if (child < 0) throw Error(Exit::device, "cannot start a process");
  if (child == 0) {
    ::close(ends[0]);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != parent) ::_exit(static_cast<int>(Exit::device));
    const auto text = to_text(test_one(file, words, arguments));
    const auto written = ::write(ends[1], text.data(), text.size());
    std::fflush(nullptr);
    ::_exit(written == std::ssize(text) ? 0 : static_cast<int>(Exit::bug));
  }
  ::close(ends[1]);
  const auto before = std::signal(SIGINT, SIG_IGN);  // the run saves and says so; then we end
  const auto text = read_until_closed(ends[0]);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  std::signal(SIGINT, before);
  if (auto tested = tested_from(text, file)) return *tested;
  return {file, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), 0, {}};
}

using Row = std::vector<std::string>;

std::vector<Row> rows_of(const Tested& tested) {
  const auto time = format_seconds(tested.seconds);
  const bool ended = tested.code == 0 || tested.code == static_cast<int>(Exit::expect);
  if (!ended) return {{tested.file, "", "", "", "exit " + std::to_string(tested.code), time}};
  if (tested.expected.empty()) return {{tested.file, "", "", "", "ran", time}};
  std::vector<Row> rows;
  for (const auto& one : tested.expected)
    rows.push_back({tested.file, one.metric, one.value ? short_metric(*one.value) : "not computed",
                    one.bounds, one.met ? "met" : "not met", time});
  return rows;
}

void print_table(const std::vector<Tested>& all) {
  std::vector<Row> rows{{"recipe", "metric", "value", "expected", "verdict", "time"}};
  for (const auto& tested : all)
    for (auto& row : rows_of(tested)) rows.push_back(std::move(row));
  std::vector<std::size_t> widths(rows[0].size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line += row[i] + std::string(widths[i] + 2 - row[i].size(), ' ');
    print_shown("%s\n", std::string(trim(line)).c_str());
  }
}

int test(const Arguments& arguments) {
  const auto words = split_words(arguments.words);
  if (topology_from_environment().joined())
    throw Error(Exit::recipe, "'test' starts its ranks itself; under another launcher use 'run'");
  std::vector<Tested> all;
  int worst = 0;
  for (const auto& file : words.files) {
    all.push_back(test_apart(file, words, arguments));
    const int code = all.back().code;
    const bool worse = worst == 0 || (worst == static_cast<int>(Exit::expect) && code != 0);
    if (worse) worst = code;
    if (code > 128) break;  // a signal ends it all
  }
  print_table(all);
  return worst;
}

}  // namespace

Verb test_verb() {
  return {.name = "test",
          .usage = "RECIPE... [key=value...]",
          .summary = "run recipes and compare their metrics with what they expect",
          .flags = {{"--quick", "", "two steps each, on made data: does it run at all?"}},
          .min_files = 1,
          .run = test};
}

}  // namespace ddptrain
