// GELU whose result does not depend on where a number stands.
#pragma once

#include "models/layers/activation.h"

namespace ddptrain {

/// activate(): but torch computes the last numbers of a thread's part by another formula than the
/// others, which differs in the last bit; here all are computed alike (on the CPU).
at::Tensor activate_alike(Activation activation, const at::Tensor& input);

}  // namespace ddptrain
