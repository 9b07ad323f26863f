// What files keep of a model's state: tensors that have two names are in them once.
#pragma once

#include <vector>

#include "models/model.h"

namespace ddptrain {

/// The state that checkpoints and files have: a tied head is in it once, by the embedding's name,
/// as in transformers' files. Other tensors with two names have both, as in PyTorch's state_dict.
std::vector<NamedTensor> stored_state(const Model& model);

/// A state without the further names of a tensor.
std::vector<NamedTensor> without_aliases(const std::vector<NamedTensor>& state);

/// The tensors of a file, of which those with two names in `state` have the first. Where a file has
/// both and they differ, an Error (Exit::data).
void join_aliases(std::vector<NamedTensor>& tensors, const std::vector<NamedTensor>& state);

}  // namespace ddptrain
