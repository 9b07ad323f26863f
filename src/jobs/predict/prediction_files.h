// Where files of predictions go.
#pragma once

#include <string>
#include <vector>

namespace ddptrain {

/// A name for each sample's file, without an extension, from the samples' paths: below the folder
/// that all have in common, as the samples are. Where two would be called alike they keep the
/// extensions of their paths.
std::vector<std::string> prediction_files(const std::vector<std::string>& paths);

}  // namespace ddptrain
