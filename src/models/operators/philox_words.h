// Words of Philox 4x32-10 for the elements of a row, several blocks at a time where the CPU can.
#pragma once

#include <cstdint>

namespace ddptrain {

/// The counters (block, row, step, 0) of a key, one block for every four elements.
struct PhiloxRow {
  std::uint64_t key = 0;
  std::uint32_t row = 0;
  std::uint32_t step = 0;
};

/// Four words for each of the blocks `first` to `first + blocks - 1`, as base/random.h draws them.
void philox_words(std::uint32_t* to, std::int64_t first, std::int64_t blocks, const PhiloxRow& row);

}  // namespace ddptrain
