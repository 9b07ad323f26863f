// How verbs tell of a recipe's problems.
#pragma once

#include "cli/verb.h"
#include "config/problem.h"

namespace ddptrain {

/// Of verbs for which advice may count as an error.
inline constexpr Flag kStrict{"--strict", "", "warnings are errors"};

/// With --strict, warnings become errors.
void apply_strict(Problems& problems, const Arguments& arguments);

/// Writes problems to stderr for a person, and what explains the first error. Returns whether there
/// is an error.
bool say_problems(const Problems& problems);

}  // namespace ddptrain
