// In which types a recipe computes.
#pragma once

#include "distributed/numerics.h"

namespace ddptrain {

struct Recipe;

Numerics numerics(const Recipe& recipe);

}  // namespace ddptrain
