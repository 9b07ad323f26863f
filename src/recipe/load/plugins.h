// The plug-ins of a recipe join the catalogs before it is checked.
#pragma once

#include "config/catalog.h"
#include "config/node.h"
#include "config/problem.h"

namespace ddptrain {

/// Adds the components of every file that the layered tree names under `plugins`; what cannot be
/// added is a problem at its place.
void add_plugins(const Node& tree, const Catalogs& catalogs, Problems& problems);

}  // namespace ddptrain
