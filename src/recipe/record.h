// What a run keeps of its recipe.
#pragma once

#include <string>

#include "config/catalog.h"
#include "recipe/recipe.h"

namespace ddptrain {

/// The text of recipe.yaml: every value of `resolved`, with a comment where `asked` said `auto`.
/// Values that `tree` (the layered recipe) took from a secret of the environment stay references.
std::string record_of(Recipe& resolved, Recipe& asked, const Node& tree, const Catalogs& catalogs);

/// Values that were taken from a secret of the environment become references to it again.
void hide_secrets(Node& tree);

}  // namespace ddptrain
