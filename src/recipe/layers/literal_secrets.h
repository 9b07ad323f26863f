// Passwords and tokens that stand in a recipe as they are.
#pragma once

#include "config/node.h"
#include "config/problem.h"

namespace ddptrain {

/// A warning for each text that is no reference to the environment: an address with a password, and
/// in notes ('x-' keys), which are free, what a key such as api_token or password promises.
Problems literal_secrets(const Node& tree);

}  // namespace ddptrain
