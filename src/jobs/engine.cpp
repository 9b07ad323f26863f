#include "jobs/engine.h"

#include "base/error.h"
#include "cli/levels.h"
#include "jobs/draft/init.h"
#include "models/model.h"
#include "recipe/targets.h"
#include "sources/fetch/source.h"
#include "train/build/splits.h"
#include "train/catalogs.h"
#include "train/run/load_time.h"
#include "train/run/trial.h"

namespace ddptrain {

Verb average_verb();
Verb bench_verb();
Verb checkpoint_verb();
Verb config_verb();
Verb data_verb();
Verb doctor_verb();
Verb eval_verb();
Verb export_verb();
Verb generate_verb();
Verb lr_find_verb();
Verb predict_verb();
Verb resume_verb();
Verb run_verb();
Verb setup_verb();
Verb sweep_verb();
Verb test_verb();
Verb verify_verb();

/// jobs/bench/bench.cpp
std::vector<MeasuredStep> measured_steps(const Arguments& arguments,
                                         const std::vector<std::int64_t>& counts);

/// jobs/plugin_shapes.cpp
int plugin_shapes(const Arguments& arguments);
/// jobs/weights.cpp
int weights_files(const Arguments& arguments);

/// Looks at a recipe that has no errors, as deep as `level`; fetches nothing and leaves nothing
/// behind.
Findings check_level(Loaded& loaded, Level level);

namespace {

// A plan fetches nothing.
void require_data(const Recipe& recipe) {
  if (!is_provided(recipe.data))
    throw Error(Exit::data,
                "the data are not there; 'ddptrain data get RECIPE' fetches them, or "
                "--samples N plans without");
  require_provided_splits(recipe);
}

DataSize planned_data_size(const Recipe& recipe) {
  require_data(recipe);
  return data_size(recipe);
}

/// A language model whose blocks could be computed again, and are not.
bool could_recompute(const Recipe& recipe) {
  const auto* model = catalog<Model>().find(recipe.model.type());
  return recipe.train.recompute == Recompute::none && model && model->has("blocks") &&
         written_target(recipe, all_catalogs()) == TargetKind::tokens;
}

ModelFacts planned_model_facts(const Recipe& recipe, const BatchPlan& batch) {
  require_data(recipe);
  auto facts = try_model(recipe, batch).facts;
  if (!could_recompute(recipe)) return facts;
  auto other = recipe;
  other.train.recompute = Recompute::blocks;
  facts.recomputed = step_memory(other, batch);
  return facts;
}

}  // namespace

const Program& engine_program() {
  static const Program program = [] {
    Program full{
        &all_catalogs(),
        {run_verb(), resume_verb(), sweep_verb(), test_verb(), verify_verb(), lr_find_verb(),
         bench_verb(), eval_verb(), predict_verb(), generate_verb(), export_verb(), average_verb(),
         checkpoint_verb(), data_verb(), doctor_verb(), setup_verb(), config_verb()}};
    full.check_level = check_level;
    full.init_from_data = init_from_data;
    full.data_size = planned_data_size;
    full.steps_per_epoch = steps_per_epoch;
    full.model_facts = planned_model_facts;
    full.check_batches = check_batches;
    full.load_seconds = load_seconds;
    full.measured_steps = measured_steps;
    full.weights_files = weights_files;
    full.plugin_shapes = plugin_shapes;
    for (auto& verb : reading_verbs()) full.verbs.push_back(std::move(verb));
    return full;
  }();
  return program;
}

}  // namespace ddptrain
