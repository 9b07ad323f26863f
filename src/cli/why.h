// `show --why KEY`.
#pragma once

#include <string>

#include "cli/verb.h"
#include "recipe/load/load.h"

namespace ddptrain {

/// Each layer that set the key or took it away, strongest first, then the default and what the
/// option is. A key that the recipe cannot have is an Error with what was meant.
std::string why_text(const Loaded& loaded, const RecipeWords& words, const std::string& key,
                     const Catalogs& catalogs);

}  // namespace ddptrain
