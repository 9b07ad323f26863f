// Values from outside a recipe, and from elsewhere in it.
#pragma once

#include "config/node.h"
#include "config/problem.h"

namespace ddptrain {

/// Replaces `${env:NAME}`, `${env:NAME:-default}` and `${other.key}` in every scalar; `$${` stands
/// for `${`. What is missing without a default, and a circle of references, is a problem at its
/// place.
void interpolate(Node& tree, Problems& problems);

}  // namespace ddptrain
