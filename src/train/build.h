// Recipe to Training: one line per part, no branch on a component's name.
#pragma once

#include "distributed/world.h"
#include "train/training.h"

namespace ddptrain {

/// Builds what a recipe names, on this rank. The recipe is resolved; the world has met. `fitted` is
/// what a checkpoint keeps of the data (train/state.h), empty at the start of a run. Errors of the
/// data are Exit::data, of values that only building can refuse Exit::recipe.
Training build(const Recipe& recipe, const Placement& placement, World& world,
               const std::string& fitted = {});

/// How an epoch's order is dealt to ranks.
ShardPlan shard_plan(const Training& training);

/// The parts that eval, predict, export and data need without a Training.
std::unique_ptr<Dataset> build_data(const Recipe& recipe, const std::string& fitted = {},
                                    const std::string& unlabelled = {});
std::unique_ptr<Sampler> build_sampler(const Recipe& recipe, const Dataset& data);
std::unique_ptr<Engine> build_engine(const Recipe& recipe, const Placement& placement, World& world,
                                     const DataFacts& facts);

}  // namespace ddptrain
