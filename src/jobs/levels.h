// The levels of `validate` that need the full program.
#pragma once

#include "cli/levels.h"

namespace ddptrain {

/// Looks at a recipe that has no errors, as deep as `level`; fetches nothing and leaves nothing
/// behind.
Findings check_level(Loaded& loaded, Level level);

}  // namespace ddptrain
