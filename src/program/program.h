// The program itself: the verbs that need no tensor, and the engine's library for the rest.
#pragma once

#include "cli/program.h"

namespace ddptrain {

/// Knows the verbs and components by schemas/components.json, which the build puts into it.
/// `schema`: Program::schema, of the first call.
const Program& main_program(std::string_view schema = {});

/// Runs a command line by libddptrain_engine.so, which has LibTorch; its exit code. An Error
/// (Exit::device) where the library is missing, cannot be loaded, or is of another version.
/// `what` needs it: "'weights get'".
int run_in_engine(const Arguments& arguments, const std::string& what);

/// The same for a verb of the engine alone.
int run_verb_in_engine(const Arguments& arguments);

/// Whether that library is installed.
bool has_engine();

}  // namespace ddptrain
