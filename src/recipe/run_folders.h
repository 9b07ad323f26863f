// Run folders, as arguments of every verb name them.
#pragma once

#include <string>

#include "base/error.h"

namespace ddptrain {

/// The file that makes a folder a run's, and the recipe that it ran with, resolved.
inline constexpr const char* kRunJson = "run.json";
inline constexpr const char* kRecipeYaml = "recipe.yaml";

/// Whether it is a run's folder, whole or torn.
bool holds_run(const std::string& folder);

/// What every verb says where a run folder is meant and `folder` is none: what `latest` means, and
/// the runs that are near.
Error no_run_folder(const std::string& folder, Exit code = Exit::data);

}  // namespace ddptrain
