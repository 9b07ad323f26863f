// Layer groups: parameters from input to output, so that those near the input may rest or move
// slowly (fastai's parameter groups).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "models/model.h"

namespace ddptrain {

/// Names of the parameters of each group, in the model's order; a shared parameter once, by its
/// first name.
using LayerGroups = std::vector<std::vector<std::string>>;

/// As `patterns` divide the model, name patterns with `*` of which the first that matches decides;
/// without patterns the model's own division, or else all but the layer of the outputs, and it.
/// Throws an Error (Exit::recipe) for a pattern that matches nothing and a parameter in no group.
LayerGroups layer_groups(Model& model, const std::vector<std::vector<std::string>>& patterns = {});

/// Names of the parameters of normalization layers.
std::set<std::string> norm_parameters(Module& model);

/// What does not train.
struct Frozen {
  std::vector<std::string> parameters;
  bool statistics = false;  // batch norms of such parameters keep and use their running statistics
};

/// The groups before `freeze_to` (negative: counted from the end), without the parameters of
/// normalization layers where `train_norms` says so. Throws an Error (Exit::recipe) where there is
/// no such group, or nothing would train.
Frozen frozen_before(Model& model, const LayerGroups& groups, std::int64_t freeze_to,
                     bool train_norms);

/// Parameters in `frozen` require no gradient from now on, the others do.
void freeze(Model& model, const Frozen& frozen);

}  // namespace ddptrain
