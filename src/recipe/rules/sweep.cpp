// The section `sweep`: ranges, numbers of trials, what decides, and when halving stops.
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "base/text.h"
#include "config/complete.h"
#include "config/encode.h"
#include "recipe/layers/option.h"
#include "recipe/rules/metric_names.h"
#include "recipe/rules/rules.h"

namespace ddptrain {
namespace {

/// A key of `sweep.keys` has dots of its own, which an address cannot tell from others.
Place place_of_key(const Node& tree, const std::string& key) {
  const auto* sweep = tree.find("sweep");
  const auto* keys = sweep && sweep->is_map() ? sweep->find("keys") : nullptr;
  const auto* value = keys && keys->is_map() ? keys->find(key) : nullptr;
  return value ? value->place : nearest_place(tree, "sweep.keys");
}

void refuse(const RuleContext& rule, const std::string& key, const std::string& message) {
  rule.add({{Severity::error, "sweep-values", place_of_key(rule.tree, key), "sweep.keys." + key,
             message}});
}

const Shape* swept_option(const RuleContext& rule, const std::string& key) {
  const auto address = read_address(key);
  return address ? find_option(*address, complete(rule.tree, recipe_shape(), rule.catalogs),
                               rule.catalogs)
                 : nullptr;
}

bool is_number(const Shape& option) {
  using Kind = Shape::Kind;
  const auto kind = meant_by_scalar(option).kind;
  return kind == Kind::integer || kind == Kind::number || kind == Kind::share;
}

/// What is wrong with a range; empty: nothing.
std::string range_problem(const SweepKeySpec& spec) {
  if (!spec.values.empty()) return "it has values and a range; write one of them";
  if (!spec.min || !spec.max)
    return fmt::format("a range needs {} too", spec.min ? "'max'" : "'min'");
  const auto low = format_number(*spec.min), high = format_number(*spec.max);
  if (*spec.min > *spec.max) return "the ends are swapped: min " + low + " is above max " + high;
  if (*spec.min == *spec.max) return "both ends of the range are " + low;
  if (spec.log && *spec.min <= 0)
    return "a logarithmic range begins above 0, and this one at " + low;
  return "";
}

void check_range(const RuleContext& rule, const std::string& key, const SweepKeySpec& spec) {
  if (const auto why = range_problem(spec); !why.empty()) return refuse(rule, key, why);
  if (draw_of(*rule.recipe.sweep) == SweepDraw::grid)
    return refuse(rule, key,
                  "a grid takes values, [a, b, c]; 'method: random' or 'sobol' with 'trials' draws "
                  "from a range");
  const auto* option = swept_option(rule, key);
  if (option && !is_number(*option)) refuse(rule, key, "a range is for numbers; list the values");
}

void check_values(const RuleContext& rule, const std::string& key, const SweepKeySpec& spec) {
  if (spec.values.empty()) return refuse(rule, key, "it has neither values nor a range");
  if (spec.log) return refuse(rule, key, "'log' is for a range, with 'min' and 'max'");
  std::set<std::string> seen;
  for (const auto& value : spec.values)
    if (const auto text = to_flow(value); !seen.insert(text).second)
      return refuse(rule, key, text + " is listed twice");
}

void values_can_be_tried(const RuleContext& rule) {
  const auto& sweep = rule.recipe.sweep;
  if (!sweep) return;
  if (sweep->keys.empty())
    return rule.error("sweep.keys",
                      "no option is varied; name some, such as 'optimizer.lr: [1e-4, 1e-3]'");
  for (const auto& [key, spec] : sweep->keys) {
    if (key == "sweep" || key.starts_with("sweep."))
      refuse(rule, key, "a sweep does not vary itself");
    else if (key == "seed" && sweep->seeds > 1)
      refuse(rule, key, "'sweep.seeds' varies it already");
    else if (spec.is_range())
      check_range(rule, key, spec);
    else
      check_values(rule, key, spec);
  }
}

/// "1000000000" of a number that a double holds exactly, "1e+24" above.
std::string count_text(double count) {
  return count < 1e15 ? format_fixed(count, 0) : format_number(count);
}

void there_are_enough_trials_and_not_too_many(const RuleContext& rule) {
  const auto& sweep = rule.recipe.sweep;
  if (!sweep || sweep->keys.empty()) return;
  const bool grid = draw_of(*sweep) == SweepDraw::grid;
  const auto points = grid_points(*sweep);
  if (grid && sweep->trials)
    return rule.error(
        "sweep.trials",
        "a grid has a trial for each of its {} points; 'method: random' draws as many as wanted",
        count_text(points));
  if (!grid && !sweep->trials)
    return rule.error("sweep.trials",
                      "how many trials are to be drawn? Write for example 'trials: 20'");
  const auto runs =
      (grid ? points : static_cast<double>(*sweep->trials)) * static_cast<double>(sweep->seeds);
  if (runs > static_cast<double>(kMostTrials))
    rule.error(grid ? "sweep.keys" : "sweep.trials",
               "{}{}, and a sweep makes at most {} runs; 'method: random' or 'sobol' with 'trials' "
               "draws some of them",
               grid ? fmt::format("the grid has {} points", count_text(points))
                    : fmt::format("{} trials", *sweep->trials),
               sweep->seeds > 1 ? fmt::format(" with {} seeds each", sweep->seeds) : "",
               kMostTrials);
  if (draw_of(*sweep) == SweepDraw::sobol && std::ssize(sweep->keys) > kMostSobolKeys)
    rule.error(
        "sweep.keys",
        "Sobol's sequence is there for {} options, and these are {}; 'random' takes any number",
        kMostSobolKeys, sweep->keys.size());
}

void a_metric_decides(const RuleContext& rule) {
  const auto& sweep = rule.recipe.sweep;
  if (!sweep || !sweep->metric.value) return;
  const auto& name = *sweep->metric.value;
  if (name.starts_with("test/"))
    return rule.error(
        "sweep.metric",
        "settings that are chosen by the test split make its score too good; take 'valid/{}'",
        name.substr(5));
  if (const auto why = named_metric(rule, name).why_not; !why.empty())
    return rule.error("sweep.metric", why);
  if (sweep->mode.automatic() && !better_way(rule, name))
    rule.error("sweep.mode", "'{}' does not say which way is better; write 'max' or 'min'", name);
}

bool sets_length(const std::string& key) {
  return key.starts_with("train.duration") || key.starts_with("train.stages") ||
         key.starts_with("train.fine_tune") || key == "train";
}

/// Why trials cannot be stopped and compared after `min`; empty: they can.
std::string no_rungs(const RuleContext& rule) {
  const auto& min = rule.recipe.sweep->halving.min;
  for (const auto& [key, spec] : rule.recipe.sweep->keys)
    if (sets_length(key))
      return fmt::format("trials are compared after the same length, and '{}' varies it", key);
  const auto run = whole_run(rule.recipe);
  if (!run || run->unit == Duration::Unit::seconds || min.unit == Duration::Unit::seconds)
    return "trials are stopped by steps or epochs, not by the clock";
  const auto part = part_of(min, *run);
  if (!part)
    return "it cannot be compared with the run of '" + to_text(*run) +
           "'; write it in the same unit, or as a share such as '10 %'";
  if (*part >= 1) return fmt::format("it is not shorter than the run of '{}'", to_text(*run));
  const auto every = part_of(rule.recipe.eval.every, *run);
  if (!every)
    return "no evaluation is known to be due then; write 'eval.every' in the unit of the run";
  const auto evaluations = *part / *every;
  if (std::abs(evaluations - std::round(evaluations)) > 1e-6 || evaluations < 0.5)
    return fmt::format("no evaluation is due after '{}', since 'eval.every' is '{}'", to_text(min),
                       to_text(rule.recipe.eval.every));
  return "";
}

void halving_compares_what_was_evaluated(const RuleContext& rule) {
  const auto& sweep = rule.recipe.sweep;
  if (!sweep) return;
  if (sweep->method == SweepMethod::halving) {
    if (const auto why = no_rungs(rule); !why.empty()) rule.error("sweep.halving.min", why);
    return;
  }
  const HalvingSpec fresh;
  const auto& halving = sweep->halving;
  if (halving.min != fresh.min || halving.factor != fresh.factor || halving.draw.value)
    rule.warn("sweep.halving", "only 'method: halving' reads it");
}

constexpr Rule kSweepRules[] = {
    {{"sweep-values", "An option of a sweep has values or a range.",
      "A range whose ends are swapped, or a logarithm of 0, has nothing to draw; a grid has only "
      "the points that are listed.",
      "sweep: {method: random, trials: 9, keys: {optimizer.lr: {min: 0.1, max: 1e-4}}}",
      "sweep: {method: random, trials: 9, keys: {optimizer.lr: {min: 1e-4, max: 0.1}}}"},
     values_can_be_tried},
    {{"sweep-trials", "A sweep has a number of trials that can be trained.",
      "A grid multiplies the values of all options; random and sobol draw the number that the "
      "recipe asks for.",
      "sweep: {method: random, keys: {optimizer.lr: {min: 1e-4, max: 0.1, log: true}}}",
      "sweep: {method: random, trials: 20, keys: {optimizer.lr: {min: 1e-4, max: 0.1, log: "
      "true}}}"},
     there_are_enough_trials_and_not_too_many},
    {{"sweep-metric", "A sweep is decided by a metric that is computed.",
      "Trials are compared by it at their ends, and by halving before.",
      "metrics: [accuracy]\nsweep: {metric: f1, keys: {optimizer.lr: [1e-3, 1e-2]}}",
      "metrics: [accuracy]\nsweep: {metric: accuracy, keys: {optimizer.lr: [1e-3, 1e-2]}}"},
     a_metric_decides},
    {{"sweep-halving", "Halving stops trials at an evaluation.",
      "Trials are compared after halving.min, and the best of them after factor times as long; "
      "they are evaluated when 'eval.every' says.",
      "train: {duration: 9 epochs}\neval: {every: 2 epochs}\n"
      "sweep: {method: halving, halving: {min: 1 epoch}, keys: {optimizer.lr: [1e-3, 1e-2]}}",
      "train: {duration: 9 epochs}\neval: {every: 1 epoch}\n"
      "sweep: {method: halving, halving: {min: 1 epoch}, keys: {optimizer.lr: [1e-3, 1e-2]}}"},
     halving_compares_what_was_evaluated},
};

}  // namespace

std::vector<Rule> sweep_rules() { return {std::begin(kSweepRules), std::end(kSweepRules)}; }

}  // namespace ddptrain
