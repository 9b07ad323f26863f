// What each of several writes of a checkpoint that all of them have.
#pragma once

#include "checkpoint/checkpoint.h"

namespace ddptrain {

/// The part of writer `rank` among `writers`: as many bytes as the others have, up to a block
/// (checkpoint/block_checksums.h), so that of a small checkpoint the first has all. Together they
/// have every element once.
CheckpointParts share_of(const CheckpointParts& whole, int rank, int writers);

}  // namespace ddptrain
