// A checkpoint whose ranks have files of their own, as one without them.
#pragma once

#include <string>

namespace ddptrain {

struct Manifest;

/// Writes the checkpoint `folder`, which was verified, to the new folder `to`: with the bytes that
/// it would have if all ranks had written the same files. Memory is that of a block. Throws an
/// Error (Exit::data), and then leaves nothing: where `to` is there already, or the disk is full.
void consolidate_checkpoint(const std::string& folder, const Manifest& manifest,
                            const std::string& to);

}  // namespace ddptrain
