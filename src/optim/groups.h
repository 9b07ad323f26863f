// Parameters to groups: which of them decay.
#pragma once

#include <string>
#include <vector>

#include "models/module.h"
#include "optim/optimizer.h"

namespace ddptrain {

/// Two groups at most, "decay" and "no_decay". `no_decay` lists "norm" (parameters of normalisation
/// layers), "bias", or dotted name patterns with `*`; a pattern that matches nothing is an Error.
std::vector<ParameterGroup> group_parameters(Module& model,
                                             const std::vector<std::string>& no_decay);

}  // namespace ddptrain
