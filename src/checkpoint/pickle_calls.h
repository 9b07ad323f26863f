// Calls that a pickle asks for and that data has no use for.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/pickle.h"

namespace ddptrain {

/// "os.system", "builtins.eval": functions that start programs, run code or reach for files and the
/// network, each once, in the order of the file, at most ten. They are never called here; Python's
/// pickle.load would.
std::vector<std::string> dangerous_calls(const Pickle& pickle);

}  // namespace ddptrain
