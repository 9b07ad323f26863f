// The program itself: the verbs that need no tensor, and the engine's library for the rest.
#pragma once

#include "cli/program.h"

namespace ddptrain {

/// Knows the verbs and components by schemas/components.json, which the build puts into it.
const Program& main_program();

/// Runs a command line by libddptrain_engine.so, which has LibTorch; its exit code. An Error
/// (Exit::device) where the library is not there, cannot be loaded, or is of another version.
int run_in_engine(const Arguments& arguments);

/// Whether that library is installed.
bool has_engine();

}  // namespace ddptrain
