// `test RECIPE...`: recipes as tests. Runs each and compares its metrics with what it expects.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "base/files/scratch_folder.h"
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
  if (!loaded.problems.empty()) print_lines(render(loaded.problems), stderr);
  return loaded;
}

/// In a process of its own, so that each recipe meets the program fresh.
int run_apart(const Job& job) {
  std::fflush(nullptr);
  const auto child = ::fork();
  if (child < 0) throw Error(Exit::device, "cannot start a process");
  if (child == 0) {
    int code = static_cast<int>(Exit::bug);
    try {
      code = start_job(job, {}, log::Level::quiet);
    } catch (const Error& error) {
      log::error(error.what(), error.place());
      code = static_cast<int>(error.code());
    } catch (const std::exception& error) {
      log::error(std::string("a bug in ddptrain, please report it: ") + error.what());
    }
    std::fflush(nullptr);
    ::_exit(code);
  }
  const auto before = std::signal(SIGINT, SIG_IGN);  // the run saves and says so; then we end
  int status = 0;
  ::waitpid(child, &status, 0);
  std::signal(SIGINT, before);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
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
  const int code = run_apart(job);
  if (fs::exists(job.folder + "/run.json"))  // else it failed to start
    tested.expected = expectations(job.recipe, run_end(job.folder).metrics);
  return code;
}

int run_quick(const Loaded& whole, const Arguments& arguments, Tested& tested) {
  const ScratchFolder scratch("ddptrain-test-");
  auto loaded = quick(whole, scratch.path());
  if (has_errors(loaded.problems)) print_lines(render(loaded.problems), stderr);
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
    all.push_back(test_one(file, words, arguments));
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
