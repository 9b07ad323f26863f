// An optimizer of what a rank has of the parameters.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "optim/optimizer.h"

namespace ddptrain {

class Engine;
class Shards;
struct Recipe;

/// How a run's ranks share gradients.
SharedGradients shared_gradients(const Recipe& recipe, Engine& engine);

/// Of groups of whole parameters: builds an optimizer of this rank's pieces, whose state is
/// cut when it is loaded. `shards` outlives it. All ranks call it together.
std::unique_ptr<Optimizer> make_sharded_optimizer(
    const Shards& shards, std::vector<ParameterGroup> groups,
    const std::function<std::unique_ptr<Optimizer>(std::vector<ParameterGroup>)>& build);

}  // namespace ddptrain
