#include "jobs/plan.h"

#include "base/error.h"
#include "data/fetch/source.h"
#include "train/run/trial.h"

namespace ddptrain {
namespace {

// A plan fetches nothing.
void require_data(const Recipe& recipe) {
  if (!is_provided(recipe.data))
    throw Error(Exit::data,
                "the data are not there; 'ddptrain data get RECIPE' fetches them, or "
                "--samples N plans without");
}

}  // namespace

DataSize planned_data_size(const Recipe& recipe) {
  require_data(recipe);
  return data_size(recipe);
}

ModelFacts planned_model_facts(const Recipe& recipe) {
  require_data(recipe);
  return try_model(recipe).facts;
}

}  // namespace ddptrain
