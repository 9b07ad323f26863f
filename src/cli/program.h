// Verbs and what they look up. There are two of these: that of the program (program/) knows
// components by their shapes alone, and hands what needs LibTorch to that of the engine (jobs/).
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
  /// Runs a command line in the engine; null in the engine itself. An Error (Exit::device) where
  /// it is not installed, or not of this version, names `what` needs it: "'weights get'".
  int (*in_engine)(const Arguments& arguments, const std::string& what) = nullptr;

  /// Whether it is installed.
  bool (*has_engine)() = nullptr;

  /// The JSON Schema of recipes with the components above; empty: it is computed when it is needed.
  std::string_view schema = {};

  // What follows is null outside of the engine.

  /// For a plan.
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

  /// `init` with data that lie here.
  int (*init_from_data)(const Arguments& arguments) = nullptr;

  /// The levels of `validate` above `rules`.
  Findings (*check_level)(Loaded& loaded, Level level) = nullptr;

  /// `plugin shapes`.
  int (*plugin_shapes)(const Arguments& arguments) = nullptr;

  /// `weights get` and `weights check`.
  int (*weights_files)(const Arguments& arguments) = nullptr;

  const Verb* find(std::string_view name) const;
  /// The components of a kind; an unknown kind is an Error that says which there are.
  const CatalogBase& catalog(const std::string& kind) const;
};

/// `--plugin FILE`, of verbs that show components.
inline constexpr Flag kPlugin{"--plugin", "FILE", "components of this plug-in, too"};
/// Adds them where the flag is given.
void add_given_plugin(const Arguments& arguments);

/// The verbs that need no tensor, or not always.
std::vector<Verb> reading_verbs();

/// Dispatches, prints errors, and returns the exit code.
int run_command_line(const Program& program, const std::vector<std::string>& command_line);

/// The text of `help` and of `VERB --help`.
std::string help_text(const Program& program);
std::string help_text(const Verb& verb);

}  // namespace ddptrain
