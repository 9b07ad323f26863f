// A sweep as a list of recipes: the settings of each trial, as overrides, and whether they are
// right.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "recipe/load/load.h"

namespace ddptrain {

struct SweepTrial {
  std::vector<std::pair<std::string, std::string>> values;  // by key, as YAML on one line
  std::vector<std::string> overrides;  // the recipe without the section `sweep`, with the values
};

/// "optimizer.lr=0.001, batch.global=32"
std::string to_text(const SweepTrial& trial);

/// The trials of a recipe without problems that has the section. The same recipe gives the same
/// trials.
std::vector<SweepTrial> trials_of(const Loaded& loaded, const Catalogs& catalogs);

/// What is wrong with trials and not with the recipe itself, each problem once, at the value of the
/// sweep that made it, with the first trial that has it. Loads every trial.
Problems check_trials(const std::vector<std::string>& files,
                      const std::vector<std::string>& overrides, const Loaded& loaded,
                      const Catalogs& catalogs);

}  // namespace ddptrain
