// An optimizer whose state is in the host's memory, as a recipe asks for it.
#pragma once

#include <memory>

#include "recipe/recipe.h"

namespace ddptrain {

class Engine;
class StateStream;
struct Placement;

/// Whether it, or one inside it, has to see all of a parameter.
bool looks_at_whole_parameters(const Choice<Optimizer>& optimizer);

/// The stream of the optimizer's state, which outlives it; null where nothing is offloaded. On the
/// CPU, as in trials, nothing is: the state is in the host's memory anyway.
std::unique_ptr<StateStream> offload(const Recipe& recipe, const Placement& placement,
                                     Engine& engine, Optimizer& optimizer);

}  // namespace ddptrain
