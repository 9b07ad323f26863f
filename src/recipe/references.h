// Values from outside: ${env:NAME}, ${env:NAME:-default}, ${other.key}.
#pragma once

#include <string>

#include "config/node.h"
#include "config/problem.h"

namespace ddptrain {

/// Replaces every reference in the tree's scalars; what cannot be is a problem at its place.
void replace_references(Node& tree, Problems& problems);

/// Replaces ${env:...} alone in one text.
std::string replace_environment(const std::string& text, const Place& place, Problems& problems);

}  // namespace ddptrain
