// Room on the disk for a run's checkpoints, looked at before it starts.
#pragma once

#include <cstdint>
#include <string>

namespace ddptrain {

struct Training;

/// Bytes of one checkpoint of a run, with all that its optimizer and averages will keep.
std::int64_t checkpoint_bytes(const Training& training);

/// How many lie on the disk at once at most: keep_last, the best, and one that is being written
/// before the oldest goes; fewer where the run, which made `step` steps, saves less often.
std::int64_t most_checkpoints(const Training& training, std::int64_t step);

/// Why checkpoints do not fit into a folder of `free` bytes that already holds `there` bytes of
/// them; empty where they do.
std::string lack_of_space(const std::string& folder, std::int64_t needed, std::int64_t there,
                          std::int64_t free);

/// An Error (Exit::data) on all ranks where the folder of checkpoints, which rank 0 sees, has no
/// room for those of the run from `step` on.
void require_space(const Training& training, std::int64_t step, const std::string& folder);

}  // namespace ddptrain
