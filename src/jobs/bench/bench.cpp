// `bench RECIPE`: where the time of a training step goes, and how it shrinks with more devices.
// Nothing is kept.
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/files.h"
#include "base/files/scratch_folder.h"
#include "base/json.h"
#include "base/output/print.h"
#include "base/output/terminal.h"
#include "base/text.h"
#include "cli/problems.h"
#include "forecast/ranks.h"
#include "jobs/bench/bench_table.h"
#include "jobs/job.h"
#include "jobs/start.h"
#include "launch/in_child.h"
#include "recipe/load/load.h"
#include "recipe/mode.h"
#include "train/catalogs.h"

namespace ddptrain {
namespace {

constexpr std::int64_t kMostSteps = 100'000;
constexpr std::int64_t kMostDevices = 1'024;

constexpr Flag kBenchDevices{"--devices", "COUNTS",
                             "measure on so many devices each, such as 1,2,4, and compare"};
constexpr Flag kBenchSteps{"--steps", "N",
                           "steps that are measured, after 5 that warm up (default 20)"};
constexpr Flag kBenchFormat{"--format", "text|json", "of the result (default text)"};

std::int64_t number_in(const std::string& flag, const std::string& text, std::int64_t most) {
  const auto number = parse_integer(trim(text));
  if (!number || *number < 1 || *number > most)
    throw Error(Exit::recipe, "{}: '{}' is not a number from 1 to {}", flag, text, most);
  return *number;
}

/// Of devices; nothing: as many as the recipe has.
std::vector<std::optional<std::int64_t>> counts_of(const Arguments& arguments) {
  if (!arguments.has(kBenchDevices.name)) return {std::nullopt};
  std::vector<std::optional<std::int64_t>> counts;
  for (const auto& word : split(arguments.value(kBenchDevices.name), ','))
    counts.emplace_back(number_in("--devices", word, kMostDevices));
  return counts;
}

/// The recipe on a number of devices; nothing where it has errors, which are printed.
std::optional<Loaded> load_on(const Arguments& arguments, std::optional<std::int64_t> count,
                              bool first) {
  auto words = split_words(arguments.words);
  const auto load = [&] { return load_recipe(words.files, words.overrides, all_catalogs()); };
  auto loaded = load();
  if (count && !has_errors(loaded.problems)) {
    words.overrides.push_back(fmt::format("parallel.devices={}", *count));
    if (*count > 1 && !has_devices(loaded.recipe.parallel.mode))
      words.overrides.emplace_back("parallel.mode=ddp");
    loaded = load();
  }
  if (first || has_errors(loaded.problems)) say_problems(loaded.problems);
  if (has_errors(loaded.problems)) return {};
  return loaded;
}

/// Rank 0 leaves its times in a file: it may be another process than this one.
Json measure_here(Loaded& loaded, const BenchOptions& options) {
  const ScratchFolder folder;
  const auto file = folder.path() + "/times.json";
  const auto job = make_job(loaded.recipe, loaded.tree, {});
  const auto rank_main = [&](const Topology& topology, const Hooks& hooks) {
    StepTimes times;
    const int code = measure_rank(job, options, topology, hooks, times);
    if (code == 0 && topology.rank == 0) write_atomically(file, to_json(times));
    return code;
  };
  const int code =
      start_ranks(job.recipe, job.placement, {}, rank_main, {log::Level::quiet, {}, &job.tree});
  if (code != 0) return {{"code", code}};
  return {{"times", read_text(file)}};
}

/// In a process of its own, since ranks cannot be forked once LibTorch was used.
Json measure(Loaded& loaded, const BenchOptions& options) {
  return parse_json(in_child([&] {
    try {
      return json_text(measure_here(loaded, options));
    } catch (const Error& error) {
      const auto& place = error.place();
      return lossy_json_text(Json{{"code", static_cast<int>(error.code())},
                                  {"message", error.message()},
                                  {"option", error.option()},
                                  {"place", {place.file, place.line, place.column, place.width}}});
    }
  }));
}

/// An error of a measurement as one of this process; a signal's code is returned.
int failed(const Json& outcome) {
  const int code = outcome.at("code");
  if (code > 128) return code;
  const auto message = outcome.value("message", std::string("the steps failed; see above"));
  const auto option = outcome.value("option", std::string());
  const auto at = outcome.value("place", Json::array({"", 0, 0, 0}));
  const Place place{at[0], at[1], at[2], at[3]};
  if (option.empty()) throw Error(static_cast<Exit>(code), message, place);
  throw Error(static_cast<Exit>(code), Option{option}, message, place);
}

void print_result(const std::vector<StepTimes>& all, bool as_json) {
  if (as_json) return print_lines(bench_json(all));
  const auto columns = terminal_columns(STDOUT_FILENO);
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i)
    text += (i > 0 ? "\n" : "") + parts_text(all[i], columns);
  if (all.size() > 1) text += "\n" + speed_up_text(all, columns);
  print_lines(broken_at_blanks(text, columns));
}

/// The times of each recipe, or what it failed with: a signal's code.
struct Measured {
  std::vector<StepTimes> times;
  int code = 0;
};

Measured measure_all(std::vector<Loaded>& recipes, const BenchOptions& options) {
  Measured all;
  for (auto& loaded : recipes) {
    log::info(
        "measuring {}{}", plural(options.steps, "step"),
        recipes.size() > 1 ? fmt::format(" ({} of {})", all.times.size() + 1, recipes.size()) : "");
    const auto outcome = measure(loaded, options);
    if (!outcome.contains("times")) return {{}, failed(outcome)};
    all.times.push_back(step_times_from(outcome.at("times")));
  }
  return all;
}

MeasuredStep measured_step(const StepTimes& times) {
  const double passes =
      times.of(Phase::transfer) + times.of(Phase::forward) + times.of(Phase::backward);
  return {.devices = times.devices,
          .cores = times.cores,
          .threads = times.threads,
          .samples = static_cast<double>(times.global),
          .passes = passes,
          .update = times.of(Phase::optimizer) + times.rest(),
          .communication = times.of(Phase::communication),
          .loader = times.of(Phase::loader),
          .loader_alone = times.loader_alone};
}

int bench(const Arguments& arguments) {
  if (topology_from_environment().joined())
    throw Error(Exit::recipe, "'bench' starts its ranks itself: call it without another launcher");
  BenchOptions options;
  if (arguments.has(kBenchSteps.name))
    options.steps = number_in("--steps", arguments.value(kBenchSteps.name), kMostSteps);
  std::vector<Loaded> recipes;
  for (const auto count : counts_of(arguments)) {
    auto loaded = load_on(arguments, count, recipes.empty());
    if (!loaded) return static_cast<int>(Exit::recipe);
    recipes.push_back(std::move(*loaded));
  }
  const auto all = measure_all(recipes, options);
  if (all.code != 0) return all.code;
  print_result(all.times, arguments.chosen(kBenchFormat) == 1);
  return 0;
}

}  // namespace

/// For `plan --machine here` (cli/program.h).
std::vector<MeasuredStep> measured_steps(const Arguments& arguments,
                                         const std::vector<std::int64_t>& counts) {
  std::vector<Loaded> recipes;
  for (const auto count : counts) {
    auto loaded = load_on(arguments, count, false);
    if (!loaded) return {};
    recipes.push_back(std::move(*loaded));
  }
  std::vector<MeasuredStep> steps;
  for (const auto& times : measure_all(recipes, {}).times) {
    if (!times.on_cpu)
      throw Error(Exit::recipe, "--machine here: forecasts CPU ranks; add parallel.device=cpu");
    steps.push_back(measured_step(times));
  }
  return steps;
}

Verb bench_verb() {
  return {.name = "bench",
          .usage = "RECIPE... [key=value...]",
          .summary = "where the time of a training step goes, and what more devices bring",
          .flags = {kBenchDevices, kBenchSteps, kBenchFormat},
          .min_files = 1,
          .run = bench};
}

}  // namespace ddptrain
