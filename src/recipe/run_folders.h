// Run folders, as arguments of every verb name them.
#pragma once

#include <string>

#include "base/error.h"

namespace ddptrain {

/// What every verb says where a run folder is meant and `folder` is none: what `latest` means, and
/// the runs that are near.
Error no_run_folder(const std::string& folder, Exit code = Exit::data);

}  // namespace ddptrain
