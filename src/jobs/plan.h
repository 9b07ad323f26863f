// What `plan` looks up in the full program.
#pragma once

#include "recipe/model_facts.h"
#include "recipe/recipe.h"

namespace ddptrain {

/// Errors are Exit::data where the data are not there: nothing is fetched.
DataSize planned_data_size(const Recipe& recipe);
ModelFacts planned_model_facts(const Recipe& recipe);

}  // namespace ddptrain
