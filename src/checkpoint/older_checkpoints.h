// Which checkpoints stay when a newer one is complete.
#pragma once

#include <cstdint>
#include <string>

namespace ddptrain {

/// prune_checkpoints() where the newest was verified: deletes all but the newest `keep_last` (at
/// least one), `best` (a folder name, may be empty) and what `root`/best points at.
void delete_older_checkpoints(const std::string& root, std::int64_t keep_last,
                              const std::string& best);

}  // namespace ddptrain
