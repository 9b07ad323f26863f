// Layers over further tokens of several sequences, each computed as if it were alone.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "models/language/conv1d.h"
#include "models/memory.h"

namespace ddptrain {

/// Rows `first` to `first + count - 1` are tokens of a sequence.
struct SequenceRows {
  std::int64_t sequence = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

std::vector<SequenceRows> rows_of(const Continuation& continuation);

/// The layer of [n, in], to the last bit what each sequence would get alone.
at::Tensor apply_by_sequence(const Conv1d& layer, const at::Tensor& input,
                             const std::vector<SequenceRows>& sequences);

}  // namespace ddptrain
