// The forecast of `plan --machine`: a table of numbers of devices, and what it rests on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "forecast/machine.h"
#include "forecast/ranks.h"
#include "recipe/batch_plan.h"
#include "recipe/model_facts.h"

namespace ddptrain {

/// What is known of a recipe's run.
struct ForecastRun {
  const Recipe& recipe;
  const ModelFacts& facts;  // of a step of `planned`
  BatchPlan planned;
  DataSize data;
  bool convolves = false;
  double load = 0;                   // seconds of a CPU core here for a sample
  std::vector<std::int64_t> counts;  // of devices, to forecast
};

/// Lines of text; at most `columns` wide (0: any width).
std::string forecast_text(const ForecastRun& run, const KnownMachine& machine, std::size_t columns);

/// Of CPU ranks on this machine, from steps measured on it.
std::string forecast_text(const ForecastRun& run, const std::vector<MeasuredStep>& measured,
                          std::size_t columns);

/// Each constant with its source.
std::string explained_text(const KnownMachine& machine);

}  // namespace ddptrain
