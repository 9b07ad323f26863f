// How many parameters of a model are in blocks, which zero2 and fsdp share block by block.
#pragma once

#include <cstdint>

namespace ddptrain {

class Model;

/// Counts of elements.
struct BlockSizes {
  std::int64_t parameters = 0;
  std::int64_t root = 0;     // of them, those in no block
  std::int64_t largest = 0;  // of the largest block
  std::int64_t cast = 0;     // of those in blocks, what autocast casts wherever it is read
};

BlockSizes block_sizes(const Model& model);

}  // namespace ddptrain
