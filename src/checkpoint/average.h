// The mean of several models' weights.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/safetensors.h"

namespace ddptrain {

/// Floating-point tensors are averaged in double and keep their type; whole numbers (counts of
/// batches) are the last one's. All must have the same names and shapes: an Error (Exit::data) says
/// which of `sources` differs, in what.
std::vector<NamedTensor> average_weights(const std::vector<std::vector<NamedTensor>>& models,
                                         const std::vector<std::string>& sources);

}  // namespace ddptrain
