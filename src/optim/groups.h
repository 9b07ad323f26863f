// Parameters to groups: which of them decay, and which move at which rate.
#pragma once

#include <string>
#include <vector>

#include "models/layer_groups.h"
#include "optim/optimizer.h"

namespace ddptrain {

/// Of each layer group two at most, "decay" and "no_decay"; without layer groups the model is one.
/// `no_decay` lists "norm" (parameters of normalization
/// layers), "bias", or dotted name patterns with `*`; a pattern that matches nothing is an Error.
std::vector<ParameterGroup> group_parameters(Module& model,
                                             const std::vector<std::string>& no_decay,
                                             const LayerGroups& layers = {});

}  // namespace ddptrain
