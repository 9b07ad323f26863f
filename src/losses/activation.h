// Between outputs and predictions.
#pragma once

#include "losses/loss.h"

namespace ddptrain {

/// Predictions in double: probabilities, or the outputs themselves.
at::Tensor predictions(const at::Tensor& output, const OutputActivation& activation);

/// Outputs that give these predictions, so that losses and metrics can read a mean of several.
at::Tensor output_of(const at::Tensor& predictions, const OutputActivation& activation);

}  // namespace ddptrain
