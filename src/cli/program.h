// What a build of the program can do. The full one (jobs/) trains; the one without LibTorch
// (checker/) knows components by their shapes alone and only reads recipes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/levels.h"
#include "cli/verb.h"
#include "config/catalog.h"
#include "forecast/ranks.h"
#include "recipe/batch_plan.h"
#include "recipe/model_facts.h"
#include "recipe/recipe.h"

namespace ddptrain {

struct Program {
  const Catalogs* catalogs;
  std::vector<Verb> verbs;  // in the order of `help`
  /// What only a program with LibTorch can look up for a plan; null without.
  DataSize (*data_size)(const Recipe& recipe) = nullptr;
  std::int64_t (*steps_per_epoch)(const Recipe& recipe, const BatchPlan& batch,
                                  std::int64_t samples) = nullptr;
  /// Its memory is that of a step of `batch`.
  ModelFacts (*model_facts)(const Recipe& recipe, const BatchPlan& batch) = nullptr;
  /// Seconds of one CPU core for a training sample, as measured here.
  double (*load_seconds)(const Recipe& recipe) = nullptr;
  /// Steps of a recipe on this machine's CPU, for each number of ranks; none where the recipe on
  /// one of them has errors, which are printed.
  std::vector<MeasuredStep> (*measured_steps)(const Arguments& arguments,
                                              const std::vector<std::int64_t>& counts) = nullptr;
  /// Throws where a batch of an epoch of `samples` is too small for the model.
  void (*check_batches)(const Recipe& recipe, const BatchPlan& batch,
                        std::int64_t samples) = nullptr;

  /// `init` with data that lie here; null without LibTorch.
  int (*init_from_data)(const Arguments& arguments) = nullptr;

  /// The levels of `validate` above `rules`; null without LibTorch.
  Findings (*check_level)(Loaded& loaded, Level level) = nullptr;

  const Verb* find(std::string_view name) const;
  /// The components of a kind; an unknown kind is an Error that says which there are.
  const CatalogBase& catalog(const std::string& kind) const;
};

/// This build's, defined once in jobs/program.cpp and once in checker/program.cpp.
const Program& this_program();

/// The verbs that only read recipes, which every build has.
std::vector<Verb> reading_verbs();

/// Dispatches, prints errors, and returns the exit code.
int run_command_line(const Program& program, const std::vector<std::string>& command_line);

/// The text of `help` and of `VERB --help`.
std::string help_text(const Program& program);
std::string help_text(const Verb& verb);

}  // namespace ddptrain
