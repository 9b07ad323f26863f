// A few rows through the whole of a recipe's network on the CPU: what it costs, and whether it
// works at all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "recipe/batch_plan.h"
#include "recipe/model_facts.h"
#include "recipe/recipe.h"

namespace ddptrain {

/// What came in and out of a forward pass.
struct Trial {
  ModelFacts facts;
  std::vector<std::vector<std::int64_t>> inputs, targets;  // shapes of a batch of 2 rows
  std::vector<std::int64_t> output;
  double loss = 0;  // mean over the rows
};

/// Builds the recipe as one CPU process does, its rates those of the run's own batch, loads
/// model.weights, and makes some forward passes, losses, backward passes and steps of the
/// optimizer with few rows. `batch`: whose memory is planned. Errors are those of building:
/// Exit::data, Exit::recipe.
Trial try_model(const Recipe& recipe, const BatchPlan& batch);
/// For the devices that the recipe asks for, or one.
Trial try_model(const Recipe& recipe);

/// The memory of a step alone, as try_model finds it.
StepMemory step_memory(const Recipe& recipe, const BatchPlan& batch);

/// An Error (Exit::recipe) where an epoch, cut by a batch plan, has a batch that is too small for
/// the model's batch norm (train/build/batch_norm_rows.h). Builds the model only where sizes say
/// so.
void check_batches(const Recipe& recipe, const BatchPlan& batch, std::int64_t samples);

/// Samples of an epoch's order, and held-out ones.
DataSize data_size(const Recipe& recipe);

/// Steps of an epoch of `samples` samples for a batch plan.
std::int64_t steps_per_epoch(const Recipe& recipe, const BatchPlan& batch, std::int64_t samples);

}  // namespace ddptrain
