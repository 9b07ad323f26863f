#include "recipe/sweep_section.h"

#include <algorithm>
#include "base/names.h"

namespace ddptrain {

std::span<const std::string_view> names(BestMode) { return kNameList<"max", "min">; }

std::span<const std::string_view> names(SweepMethod) {
  return kNameList<"grid", "random", "sobol", "halving">;
}

std::span<const std::string_view> names(SweepDraw) { return kNameList<"grid", "random", "sobol">; }

std::span<const std::string_view> names(OnTrialFailure) { return kNameList<"continue", "stop">; }

void SweepKeySpec::fields(Fields& f) {
  f("values", values, {.doc = "The values that are tried.", .example = "[1e-4, 1e-3]"});
  f("min", min, {.doc = "Instead of values: where a range begins."});
  f("max", max, {.doc = "Where it ends; both ends belong to it."});
  f("log", log, {.doc = "Draw uniformly in the logarithm, for rates and sizes."});
}

void HalvingSpec::fields(Fields& f) {
  f("min", min,
    {.doc = "How long every trial trains at least; an evaluation must be due then (eval.every)."});
  f("factor", factor,
    {.doc = "The best 1 / factor of the trials go on, each to factor times as long.",
     .min = 2,
     .max = 16});
  f("draw", draw,
    {.doc = "Where the trials come from; auto: the grid where every option has values and trials "
            "is null, else random."});
}

void SweepSpec::fields(Fields& f) {
  f("method", method,
    {.doc = "grid: every combination; random and sobol: as many draws as trials says; halving: "
            "trials that are worse than others stop early (ASHA, Li et al. 2020)."});
  f("keys", keys,
    {.doc = "Options by their dotted keys, each with a list of values or a range.",
     .example = "{optimizer.lr: {min: 1e-4, max: 1e-1, log: true}, batch.global: [32, 64]}"});
  f("trials", trials,
    {.doc = "How many settings random and sobol draw; null for a grid.",
     .min = 1,
     .max = kMostTrials});
  f("seeds", seeds,
    {.doc = "Runs of each trial, on seeds from the recipe's own upwards; their mean counts.",
     .min = 1,
     .max = kMostTrials});
  f("metric", metric,
    {.doc = "What decides; a bare name means valid/name. auto: checkpoint.keep_best's, else the "
            "first metric."});
  f("mode", mode, {.doc = "Whether more or less is better; auto: as the metric says."});
  f("parallel", parallel,
    {.doc = "Trials at once; devices, or the cores of the CPU, are divided among them.",
     .min = 1,
     .max = 1024});
  f("halving", halving, {.doc = "When method: halving stops trials."});
  f("on_failure", on_failure,
    {.doc = "A trial that fails is a row of the table with its error, or ends the sweep."});
}

SweepDraw draw_of(const SweepSpec& sweep) {
  if (sweep.method == SweepMethod::grid) return SweepDraw::grid;
  if (sweep.method == SweepMethod::random) return SweepDraw::random;
  if (sweep.method == SweepMethod::sobol) return SweepDraw::sobol;
  if (sweep.halving.draw.value) return *sweep.halving.draw.value;
  const bool ranges = std::any_of(sweep.keys.begin(), sweep.keys.end(),
                                  [](const auto& key) { return key.second.is_range(); });
  return ranges || sweep.trials ? SweepDraw::random : SweepDraw::grid;
}

double grid_points(const SweepSpec& sweep) {
  double points = 1;
  for (const auto& [key, spec] : sweep.keys) points *= static_cast<double>(spec.values.size());
  return points;
}

std::int64_t trial_count(const SweepSpec& sweep) {
  return draw_of(sweep) == SweepDraw::grid ? static_cast<std::int64_t>(grid_points(sweep))
                                           : sweep.trials.value_or(0);
}

}  // namespace ddptrain
