// Recipe to Training: one line per part, no branch on a component's name.
#pragma once

#include "data/loader/scored.h"
#include "distributed/world.h"
#include "train/training.h"

namespace ddptrain {

/// What a checkpoint keeps of the data that its model was trained on (train/state.h); nothing at
/// the start of a run.
struct SavedData {
  std::string fitted;                // Dataset::state()
  std::vector<std::string> classes;  // names, in order of the model's outputs
};

/// Builds what a recipe names, on this rank. The recipe is resolved; the world has met. Errors of
/// the data are Exit::data, of values that only building can refuse Exit::recipe.
Training build(const Recipe& recipe, const Placement& placement, World& world,
               const SavedData& saved = {}, Scored scored = Scored::valid);

/// How an epoch's order is dealt to ranks.
ShardPlan shard_plan(const Training& training);

/// The parts that eval, predict, export and data need without a Training.
std::unique_ptr<Dataset> build_data(const Recipe& recipe, const SavedData& saved = {},
                                    const std::string& unlabelled = {});
std::unique_ptr<Sampler> build_sampler(const Recipe& recipe, const Dataset& data);
std::unique_ptr<Engine> build_engine(const Recipe& recipe, const Placement& placement, World& world,
                                     const DataFacts& facts);

}  // namespace ddptrain
