// Whether the model accepts the samples: checked at the start, not hours later.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace ddptrain {

struct Batch;
struct Training;

/// Tries every shape that training samples have in the run. An Error (Exit::recipe) that names the
/// model, the shape and the epoch.
void try_shapes(Training& training);

/// What the model gives for a batch; where it cannot take it, an Error (Exit::recipe) that calls
/// the samples `which`.
at::Tensor tried_output(Training& training, const Batch& batch, const std::string& which);

}  // namespace ddptrain
