// `sweep RECIPE... [key=value[,value...]...]`: the recipe with several settings, and which is best.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/print.h"
#include "base/output/terminal.h"
#include "base/quoting.h"
#include "base/text.h"
#include "cli/problems.h"
#include "cli/verb.h"
#include "config/encode.h"
#include "jobs/job.h"
#include "jobs/scripts/launch_plan.h"
#include "jobs/sweep/array_job.h"
#include "jobs/sweep/sweep_runner.h"
#include "recipe/rules/rule_context.h"
#include "recipe/sweep/words.h"
#include "report/report.h"
#include "train/catalogs.h"
#include "train/results/watched_metric.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

constexpr Flag kPrint{"--print", "FORMAT",
                      "slurm or kubernetes: write a job for the cluster instead, a run an element"};
constexpr Flag kRun{"--run", "N", "train the N-th run alone, as that script does"};

SweepWords words_of(const Arguments& arguments) {
  const auto words = split_words(arguments.words);
  return {words.files, with_sweep_keys(words.overrides)};
}

void require_sweep(const Recipe& recipe) {
  if (!recipe.sweep)
    throw Error(Exit::recipe,
                "no option is varied; write its values, 'optimizer.lr=1e-4,1e-3', or a section "
                "'sweep' in the recipe");
}

WatchedMetric watched_by(const Recipe& recipe) {
  const auto& sweep = *recipe.sweep;
  if (!sweep.metric.value) {
    auto watched = watched_metric(recipe);
    if (!watched)
      throw Error(Exit::recipe, Option{"sweep.metric"},
                  "nothing says which trial is better; name a metric, and 'sweep.mode'");
    if (sweep.mode.value) watched->mode = *sweep.mode.value;
    return *watched;
  }
  const bool bare = sweep.metric.value->find('/') == std::string::npos;
  return {(bare ? "valid/" : "") + *sweep.metric.value, sweep.mode.value.value_or(BestMode::max)};
}

/// As a part of the run's length, which the rules have compared.
std::vector<double> lengths_of(const Recipe& recipe) {
  const auto& sweep = *recipe.sweep;
  if (sweep.method != SweepMethod::halving) return {1};
  return rung_lengths(part_of(sweep.halving.min, *whole_run(recipe)).value(), sweep.halving.factor);
}

SweepPlan plan_of(const Loaded& loaded) {
  const auto& sweep = *loaded.recipe.sweep;
  SweepPlan plan{sweep,
                 trials_of(loaded, all_catalogs()),
                 watched_by(loaded.recipe),
                 {},
                 loaded.recipe.checkpoint.keep_best.has_value(),
                 loaded.recipe.seed};
  plan.halving = {
      std::ssize(plan.trials), lengths_of(loaded.recipe), sweep.halving.factor,
      static_cast<int>(std::min<std::int64_t>(sweep.parallel, std::ssize(plan.trials)))};
  return plan;
}

/// The words as typed, without the flags that this start has of its own.
std::vector<std::string> command_words(const Arguments& arguments) {
  std::vector<std::string> words{called_as(), "sweep"};
  words.insert(words.end(), arguments.words.begin(), arguments.words.end());
  return words;
}

std::string command_of(const Arguments& arguments) { return shell_line(command_words(arguments)); }

/// What `run --print` writes for one run has another name or no sense here.
[[noreturn]] void refuse_format(const std::string& format) {
  if (format == "torchrun" || format == "mpirun")
    throw Error(Exit::recipe,
                "--print: {} starts the ranks of one run, and a sweep has several; 'ddptrain "
                "sweep' starts them on one machine, and '--print slurm' or '--print kubernetes' "
                "writes a job that has a run an element",
                format);
  if (format == "jobset" || format == "trainjob" || format == "pytorchjob")
    throw Error(Exit::recipe,
                "--print: the pods of a {} train one run together, and a sweep has several; "
                "'--print kubernetes' writes an indexed Job, a run a pod",
                format);
  throw Error(Exit::recipe, "--print: '{}' is not a format; write 'slurm' or 'kubernetes'", format);
}

/// The devices of each run, which a pod must ask for.
LaunchPlan plan_of_pod(const Recipe& recipe, const Arguments& arguments) {
  auto plan = launch_plan_of(recipe, arguments);
  if (plan.nodes > 1)
    throw Error(Exit::recipe, Option{"parallel.nodes"},
                "the pods of an indexed Job are a run each, and these runs have several nodes; "
                "write 'parallel.nodes=1', or '~parallel.nodes'");
  return plan;
}

int print_array_job(const SweepPlan& plan, const Recipe& recipe, const Arguments& arguments) {
  const auto format = arguments.value(kPrint.name);
  if (format != "slurm" && format != "kubernetes") refuse_format(format);
  if (plan.halving.lengths.size() > 1)
    throw Error(Exit::recipe,
                "--print {}: halving decides between runs which one goes on, and the elements of "
                "such a job do not wait for each other; 'sweep.method=grid' or 'random' writes "
                "one, or run 'ddptrain sweep' within one job",
                format);
  ArrayJob job{recipe.name, plan.halving.trials * plan.spec.seeds, 0, fs::current_path().string(),
               command_words(arguments)};
  if (plan.spec.parallel > 1) job.at_once = plan.spec.parallel;
  print_exact(format == "slurm" ? slurm_script(job)
                                : indexed_job(job, plan_of_pod(recipe, arguments)));
  return 0;
}

RunKey run_asked(const SweepPlan& plan, const Arguments& arguments) {
  const auto text = arguments.value(kRun.name);
  const auto number = parse_integer(text);
  const auto runs = plan.halving.trials * plan.spec.seeds;
  if (plan.halving.lengths.size() > 1)
    throw Error(Exit::recipe, "--run: halving decides between runs which one goes on");
  if (!number || *number < 1 || *number > runs)
    throw Error(Exit::recipe, "--run: '{}' is not a run of this sweep, 1 to {}", text, runs);
  return {{(*number - 1) / plan.spec.seeds, 0}, (*number - 1) % plan.spec.seeds};
}

std::string method_text(const SweepPlan& plan) {
  auto text = std::string(names(plan.spec.method)[static_cast<std::size_t>(plan.spec.method)]) +
              " of " + plural(plan.halving.trials, "trial");
  if (plan.spec.seeds > 1) text += " on " + plural(plan.spec.seeds, "seed");
  if (plan.halving.workers > 1) text += fmt::format(", {} at once", plan.halving.workers);
  return text + ", by " + plan.watched.name;
}

/// What a further start of a sweep would train.
enum class Rest {
  none,     // nothing: the next start is another sweep
  some,     // what is missing, or failed for a reason that may be gone
  diverged  // nothing, and a trial failed: the next start is of this sweep
};

Rest rest_of(const SweepPlan& plan, const SweepRecord& record) {
  const auto& runs = record.values();
  const auto missing = jobs_under_way(
      plan.halving, [&](const TrialJob& job) { return value_or_failure(plan, record, job); });
  if (!missing.empty() || !std::ranges::all_of(runs, has_result)) return Rest::some;
  const bool failed =
      std::ranges::any_of(runs, [](const RunValue& run) { return !run.error.empty(); });
  return failed ? Rest::diverged : Rest::none;
}

/// Trains what is missing, and tells what came of all.
int sweep_in(const std::string& folder, const SweepPlan& plan, const SweepWords& words,
             const Recipe& recipe, const Arguments& arguments) {
  const auto lock = lock_run(folder);
  SweepRecord record(folder);
  log::info("{}, in {}", method_text(plan), folder);
  const int code = run_sweep(plan, words, record, arguments);
  write_tables(plan, record);
  if (arguments.level != log::Level::quiet)
    print_lines(table_text(plan, record, terminal_columns(STDOUT_FILENO)));
  const auto rest = rest_of(plan, record);
  if (rest == Rest::none) record.finish();
  if (rest == Rest::some) log::info("'{}' resumes this sweep", command_of(arguments));
  if (rest == Rest::diverged)
    log::info(
        "nothing is left to train: what was not finite would be so again; another recipe, 'name' "
        "or 'output.dir' is another sweep");
  log::info("the table is in {}/trials.{{txt,csv,json}}", folder);
  if (recipe.output.report) {
    write_report(folder);
    log::info("report: {}", typed_path(folder + "/report.html"));
  }
  return code;
}

int sweep(const Arguments& arguments) {
  const auto words = words_of(arguments);
  auto loaded = load_recipe(words.files, words.overrides, all_catalogs());
  apply_strict(loaded.problems, arguments);
  if (say_problems(loaded.problems)) return static_cast<int>(Exit::recipe);
  require_sweep(loaded.recipe);
  auto of_trials = check_trials(words.files, words.overrides, loaded, all_catalogs());
  apply_strict(of_trials, arguments);
  if (say_problems(of_trials)) return static_cast<int>(Exit::recipe);
  const auto plan = plan_of(loaded);
  if (arguments.has(kPrint.name)) return print_array_job(plan, loaded.recipe, arguments);
  if (topology_from_environment().joined())
    throw Error(Exit::recipe, "a sweep starts its runs itself, and this is one rank of several");
  const MachinePart part{0, arguments.has(kRun.name) ? 1 : plan.halving.workers};
  const auto job = make_job_on(part, loaded.recipe, loaded.tree);
  const auto& asked = loaded.recipe;
  const auto folder =
      sweep_folder(asked.output.dir, asked.name, to_yaml(loaded.tree), job.recipe_text);
  if (arguments.has(kRun.name))
    return run_alone(plan, run_asked(plan, arguments), words, SweepRecord(folder), arguments);
  return sweep_in(folder, plan, words, asked, arguments);
}

}  // namespace

Verb sweep_verb() {
  return {.name = "sweep",
          .usage = "RECIPE... [key=value[,value...]...]",
          .summary = "train a recipe with several settings: grid, random, sobol or halving",
          .flags = {kPrint, kRun, kStrict},
          .min_files = 1,
          .run = sweep};
}

}  // namespace ddptrain
