// Checkpoints of which each machine has, on a disk of its own, the files of its ranks and the
// manifest of all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checkpoint/manifest.h"

namespace ddptrain {

/// What one machine has of a checkpoint.
struct LocalPart {
  std::int64_t step = 0;
  std::string manifest;              // the digest of its MANIFEST.json: the same on all
  std::vector<std::int64_t> needed;  // ranks that have a file
  std::vector<std::int64_t> here;    // those whose file is here, as long as it was
};

/// Newest first. What has no sound manifest is left out.
std::vector<LocalPart> local_parts(const std::string& root);

std::string to_text(const std::vector<LocalPart>& parts);
std::vector<LocalPart> parse_local_parts(const std::string& text);

/// A checkpoint of which machines together have every file.
struct WholeLocal {
  std::int64_t step = 0;
  std::string manifest;
  std::vector<std::int64_t> files;         // ranks that have one
  std::vector<std::size_t> holders;        // of each of them, a machine that has it
  std::vector<std::vector<bool>> present;  // by machine, of each of them
  bool is_there(std::size_t machine, std::size_t file) const { return present[machine][file]; }
};

/// The newest above `step` of those that `machines` have; at most `below`. `notes` receives a line
/// for each newer one of which something is missing. Step -1: there is none.
WholeLocal newest_whole(const std::vector<std::vector<LocalPart>>& machines, std::int64_t step,
                        std::int64_t below, std::vector<std::string>& notes);

/// Deletes all but the newest `keep_last`. The ranks of a machine may call it at once.
void prune_local_checkpoints(const std::string& root, std::int64_t keep_last);

/// Deletes those of later steps: the run went another way from here.
void forget_later_checkpoints(const std::string& root, std::int64_t step);

}  // namespace ddptrain
