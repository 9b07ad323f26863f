// What trains: every verb, over the components' classes.
#pragma once

#include "cli/program.h"

namespace ddptrain {

const Program& engine_program();

}  // namespace ddptrain
