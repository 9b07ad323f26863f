// Why a child process that trained has failed.
#pragma once

#include <string>

namespace ddptrain {

/// Why a run ended with an exit code that is no success: the last error that it wrote into `file`,
/// else what the code means.
std::string why_ended(int code, const std::string& file);

}  // namespace ddptrain
