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

/// Bytes of checkpoints that a folder is to hold at once, that it holds, and that are free.
struct DiskNeed {
  std::string folder;
  std::int64_t needed = 0;
  std::int64_t there = 0;
  std::int64_t free = 0;
  const char* option = "output.dir";  // that names another folder
};

/// Why they do not fit; empty where they do.
std::string lack_of_space(const DiskNeed& need);

/// An Error (Exit::data) on all ranks where the folder of checkpoints, which rank 0 sees, has no
/// room for those of the run from `step` on.
void require_space(const Training& training, std::int64_t step, const std::string& folder);

/// The same of the folder `root` that each node has (checkpoint.local), with the files of its
/// ranks, of which this one has `ranks_here`.
void require_local_space(const Training& training, std::int64_t step, const std::string& root,
                         std::int64_t ranks_here);

}  // namespace ddptrain
