// What a run keeps of its recipe.
#pragma once

#include <string>

#include "config/catalog.h"
#include "config/problem.h"
#include "recipe/recipe.h"

namespace ddptrain {

/// The text of recipe.yaml: every value of `resolved`, with a comment where `asked` has `auto`.
/// Values that `tree` (the layered recipe) took from a secret of the environment stay references.
std::string record_of(Recipe& resolved, Recipe& asked, const Node& tree, const Catalogs& catalogs);

/// Messages that quote a secret of the environment quote the reference to it instead: these, and
/// whatever this process logs or reports from then on (base/secrets.h).
void hide_secrets(Problems& problems, const Node& tree);

/// Values that were taken from a secret of the environment become references to it again.
void hide_secrets(Node& tree);

}  // namespace ddptrain
