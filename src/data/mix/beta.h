// Draws from the beta distribution. Torch-free.
#pragma once

#include "base/random.h"

namespace ddptrain {

/// One draw of Beta(a, a), 0 .. 1, as the ratio of two gamma variables (Marsaglia and Tsang, 2000),
/// taken in logarithms so that a small `a` does not underflow. a > 0.
double draw_beta(double a, Stream& random);

}  // namespace ddptrain
