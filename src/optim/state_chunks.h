// Where the state of parameters is cut, so that it passes through a buffer of bounded size.
#pragma once

#include <cstdint>
#include <vector>

namespace ddptrain {

/// Tensors begin at multiples of so many bytes.
constexpr std::int64_t kStateAlignment = 256;

/// Elements at whose multiples a member is cut: multiples of kStateAlignment in every type.
constexpr std::int64_t kChunkUnit = 256;

std::int64_t aligned_bytes(std::int64_t bytes);

/// The state of one parameter.
struct ChunkMember {
  std::int64_t elements = 0;             // of the parameter
  std::vector<std::int64_t> slot_bytes;  // of each of its tensors
  bool divisible = false;  // its tensors have as many elements, and each is moved by itself

  /// Of the state of its first `count` elements, aligned.
  std::int64_t bytes_of(std::int64_t count) const;
};

/// Elements of a member, in order of memory.
struct ChunkPart {
  std::size_t member = 0;
  std::int64_t first = 0, elements = 0;
  bool operator==(const ChunkPart&) const = default;
};

/// Chunks of at most `limit` bytes, but for one member that is not divisible, or kChunkUnit
/// elements of one that is. Every member is in some chunk; there is at least one for any.
std::vector<std::vector<ChunkPart>> cut_into_chunks(const std::vector<ChunkMember>& members,
                                                    std::int64_t limit);

}  // namespace ddptrain
