// `test RECIPE...`: recipes as tests. Runs each and compares its metrics with what it expects.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>

#include "base/error.h"
#include "base/files/files.h"
#include "base/files/scratch_folder.h"
#include "base/json.h"
#include "base/output/color.h"
#include "base/output/print.h"
#include "base/output/table_text.h"
#include "base/text.h"
#include "config/encode.h"
#include "jobs/job.h"
#include "jobs/quick.h"
#include "launch/in_child.h"
#include "recipe/load/load.h"
#include "recipe/run_folders.h"
#include "train/catalogs.h"
#include "train/results/expect.h"

namespace ddptrain {
namespace {

/// What came of one recipe.
struct Tested {
  std::string file;
  int code = 0;
  double seconds = 0;
  std::vector<Expectation> expected;
  int asked = 0;  // the signal that asked to stop meanwhile; 0: none did
};

Loaded load(const std::string& file, const std::vector<std::string>& overrides) {
  auto loaded = load_recipe({file}, overrides, all_catalogs());
  if (!loaded.problems.empty()) print_problems(render(loaded.problems), stderr);
  return loaded;
}

/// The exit code; what is thrown is logged.
int logged(const std::function<int()>& body) {
  try {
    return body();
  } catch (const Error& error) {
    log::error(error.what(), error.place());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    log::error(std::string("a bug in ddptrain, please report it: ") + error.what());
    return static_cast<int>(Exit::bug);
  }
}

/// Shortened and loaded again. What it expects holds for the whole run, not for two steps.
Loaded quick(const Loaded& whole, const std::string& folder) {
  const auto file = folder + "/" + kRecipeYaml;
  write_atomically(file, to_yaml(quick_recipe(whole.tree, whole.recipe, folder)));
  return load_recipe({file}, {}, all_catalogs());
}

int run_one(Loaded& loaded, const Arguments& arguments, Tested& tested) {
  if (has_errors(loaded.problems)) return static_cast<int>(Exit::recipe);
  auto job = make_job(loaded.recipe, loaded.tree, {});
  job.start = run_start(job, arguments, std::move(loaded.sources));
  job.folder = make_run_folder(job.recipe.output.dir, job.start);
  const auto lock = lock_run(job.folder);
  const int code = logged([&] { return start_job(job, {}, log::Level::quiet); });
  if (holds_run(job.folder))  // else it failed to start
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
  tested.code = logged([&] {
    auto loaded = load(file, words.overrides);
    const bool cut = arguments.has("--quick") && !has_errors(loaded.problems);
    return cut ? run_quick(loaded, arguments, tested) : run_one(loaded, arguments, tested);
  });
  tested.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return tested;
}

std::string to_text(const Tested& tested) {
  auto expected = Json::array();
  for (const auto& one : tested.expected)
    expected.push_back(
        {one.metric, one.bounds, one.value ? Json(format_number(*one.value)) : Json(), one.met});
  return lossy_json_text(
      Json{{"code", tested.code}, {"seconds", tested.seconds}, {"expected", expected}});
}

/// Nothing where the process ended before it could say.
std::optional<Tested> tested_from(const std::string& text, const std::string& file) {
  const auto json = json_or_null(text);
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

/// In a process of its own: each recipe meets the program fresh, and the memory that it took is
/// free again.
Tested test_apart(const std::string& file, const RecipeWords& words, const Arguments& arguments) {
  const auto answer = answer_of_child([&] { return to_text(test_one(file, words, arguments)); });
  auto tested = tested_from(answer.text, file).value_or(Tested{file, answer.code, 0, {}});
  tested.asked = answer.asked;
  return tested;
}

using Row = std::vector<std::string>;

std::vector<Row> rows_of(const Tested& tested) {
  const auto time = format_seconds(tested.seconds);
  const bool ended = tested.code == 0 || tested.code == static_cast<int>(Exit::expect);
  if (!ended) return {{tested.file, "", "", "", fmt::format("exit {}", tested.code), time}};
  if (tested.expected.empty()) return {{tested.file, "", "", "", "ran", time}};
  std::vector<Row> rows;
  for (const auto& one : tested.expected)
    rows.push_back({tested.file, one.metric, one.value ? short_metric(*one.value) : "not computed",
                    one.bounds, one.met ? "met" : "not met", time});
  return rows;
}

void print_tested(const std::vector<Tested>& all) {
  std::vector<Row> rows{{"recipe", "metric", "value", "expected", "verdict", "time"}};
  for (const auto& tested : all)
    for (auto& row : rows_of(tested)) rows.push_back(std::move(row));
  for (const auto& line : aligned(rows, Flush::left)) print_shown("%s\n", line.c_str());
}

int test(const Arguments& arguments) {
  const auto words = split_words(arguments.words);
  if (topology_from_environment().joined())
    throw Error(Exit::recipe, "'test' starts its ranks itself; under another launcher use 'run'");
  std::vector<Tested> all;
  int worst = 0;
  for (const auto& file : words.files) {
    all.push_back(test_apart(file, words, arguments));
    const int code = all.back().code, asked = all.back().asked;
    const bool worse = worst == 0 || (worst == static_cast<int>(Exit::expect) && code != 0);
    if (worse) worst = code;
    if (asked != 0) worst = 128 + asked;
    if (code > 128 || asked != 0) break;  // a signal ends it all
  }
  print_tested(all);
  return worst;
}

}  // namespace

Verb test_verb() {
  return {.name = "test",
          .usage = "RECIPE... [key=value...]",
          .summary = "run recipes and compare their metrics with what they expect",
          .flags = {{"--quick", "", "two steps each, on synthetic data: does it run at all?"}},
          .min_files = 1,
          .run = test};
}

}  // namespace ddptrain
