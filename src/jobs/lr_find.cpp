// `lr-find RECIPE`: a few steps on growing rates, a plot of the losses and the rates to try.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/print.h"
#include "base/text.h"
#include "cli/plot.h"
#include "cli/problems.h"
#include "cli/verb.h"
#include "jobs/published.h"
#include "jobs/start.h"
#include "recipe/load/load.h"
#include "sources/fetch/source.h"
#include "train/build/build.h"
#include "train/catalogs.h"
#include "train/run/lr_finder.h"
#include "train/run/rank.h"
#include "train/training.h"
#include "train/transfer/initial_weights.h"

namespace ddptrain {
namespace {

double number(const Arguments& arguments, std::string_view flag, double otherwise) {
  if (!arguments.has(flag)) return otherwise;
  const auto value = parse_number(arguments.value(flag));
  if (!value) throw Error(Exit::recipe, "{}: '{}' is not a number", flag, arguments.value(flag));
  return *value;
}

LrFindOptions options_of(const Arguments& arguments) {
  LrFindOptions options;
  options.start = number(arguments, "--start", options.start);
  options.end = number(arguments, "--end", options.end);
  const auto steps = number(arguments, "--steps", static_cast<double>(options.steps));
  if (steps != std::floor(steps) || steps > 1e9)
    throw Error(Exit::recipe, "--steps: '{}' is not a number of steps", arguments.value("--steps"));
  options.steps = static_cast<std::int64_t>(steps);
  options.stop = !arguments.has("--no-stop");
  return options;
}

std::string table(const LrFindResult& found) {
  std::string text = "step,lr,loss,smooth_loss\n";
  for (std::size_t i = 0; i < found.losses.size(); ++i)
    text += fmt::format("{},{},{},{}\n", i + 1, format_number(found.curve.rates[i]),
                        format_number(found.losses[i]), format_number(found.curve.losses[i]));
  return text;
}

void print_suggestion(const char* name, const std::optional<double>& rate, const char* meaning) {
  char value[32] = "-";
  if (rate) std::snprintf(value, sizeof value, "%.2e", *rate);
  print_shown("%-9s %-9s %s\n", name, value, rate ? meaning : "too few steps to say");
}

void print(const LrFindResult& found, const LrFindOptions& options) {
  const auto trusted = trusted_part(found.curve, options.steps);
  print_lines(plot({trusted.rates, trusted.losses, "lr", "loss"}));
  print_shown("\n%zu of %ld steps: %s\n\n", found.losses.size(), options.steps,
              found.reason.c_str());
  const auto rates = suggest_rates(trusted);
  print_suggestion("valley", rates.valley, "two thirds into the longest fall of the loss");
  print_suggestion("slide", rates.slide, "the slope settles, from the right");
  print_suggestion("minimum", rates.minimum, "a tenth of the rate of the smallest loss");
  print_suggestion("steep", rates.steep, "the loss falls fastest");
}

struct LrFindJob {
  Recipe recipe;
  Placement placement;
  LrFindOptions options;
  std::string output;  // file for the table; empty: none
};

int find_in(World& world, const LrFindJob& job, const Hooks& hooks) {
  if (hooks.beat) hooks.beat(0, "building");
  TrainingPlan plan{job.recipe, job.placement};
  plan.tries_sizes = true;
  plan.lr_finder = job.options;
  const auto training = build(plan, world, [&] {
    if (hooks.beat) hooks.beat(0, "batch.micro");
  });
  start_from_weights(*training);
  const auto found = find_lr(*training, job.options, hooks);
  if (found.signal != 0) return 128 + found.signal;
  if (world.rank != 0) return 0;
  print(found, job.options);
  if (!job.output.empty()) write_atomically(job.output, table(found));
  return 0;
}

int find_rank(const LrFindJob& job, const Topology& topology, const Hooks& hooks) {
  prepare_process(job.recipe, job.placement);
  return in_world(job.recipe, job.placement, topology,
                  [&](World& world) { return find_in(world, job, hooks); });
}

int lr_find(const Arguments& arguments) {
  const auto words = split_words(arguments.words);
  auto loaded = load_recipe(words.files, words.overrides, all_catalogs());
  if (say_problems(loaded.problems)) return static_cast<int>(Exit::recipe);
  const auto outer = topology_from_environment();
  LrFindJob job;
  job.options = options_of(arguments);
  job.output = arguments.value("--output");
  const auto recipe = lr_find_recipe(loaded.recipe, job.options);
  job.placement = place(recipe, outer);
  job.recipe = resolved(recipe, job.placement);
  if (!outer.joined()) provide(job.recipe.data);  // no rank waits, and no time-out runs
  settle_weights(job.recipe.model, Fetching::allowed);
  return start_ranks(
      job.recipe, job.placement, outer,
      [&](const Topology& topology, const Hooks& hooks) { return find_rank(job, topology, hooks); },
      {arguments.level, {}});
}

}  // namespace

Verb lr_find_verb() {
  return {.name = "lr-find",
          .usage = "RECIPE... [key=value...]",
          .summary = "which learning rate to try: the loss while the rate grows, nothing is kept",
          .flags = {{"--start", "RATE", "of the first step (default 1e-7)"},
                    {"--end", "RATE", "that the rate grows to (default 10)"},
                    {"--steps", "N", "of the way there (default 100)"},
                    {"--no-stop", "", "go on where the loss is above four times its best"},
                    {"--output", "FILE", "also write a CSV of step, rate and losses"}},
          .min_files = 1,
          .run = lr_find};
}

}  // namespace ddptrain
