// Values from outside: ${env:NAME}, ${env:NAME:-default}, ${other.key}.
#pragma once

#include <map>
#include <string>

#include "config/node.h"
#include "config/problem.h"

namespace ddptrain {

/// Replaces every reference in the tree's scalars; what cannot be is a problem at its place. Where
/// the environment gave a secret, the value keeps the reference: names with password, secret,
/// token, key or the like in any case, all of data.source.url, and what refers to such values.
void replace_references(Node& tree, Problems& problems);

/// Secret values of a tree, and what stands for each in everything that is
/// written.
std::map<std::string, std::string> secrets_of(const Node& tree);

/// Replaces ${env:...} alone in one text.
std::string replace_environment(const std::string& text, const Place& place, Problems& problems);

}  // namespace ddptrain
