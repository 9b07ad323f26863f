// Where a run keeps checkpoints on the disks of its nodes: a folder that no other run has.
#pragma once

#include <optional>
#include <string>

namespace ddptrain {

/// The name of that folder, in local_checkpoints.txt of a run folder; written the first time. A run
/// folder that is deleted and made again gets another one. Throws an Error (Exit::data).
std::string local_folder_name(const std::string& folder);

/// The same where it was written; nothing where the run has none.
std::optional<std::string> known_local_folder_name(const std::string& folder);

}  // namespace ddptrain
