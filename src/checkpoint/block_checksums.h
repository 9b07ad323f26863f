// Checksums of the blocks of a tensor's bytes, from parts of it that several writers have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

/// Bytes of a block, from the tensor's first byte on; its last one may have fewer.
inline constexpr std::int64_t kBlockBytes = 1 << 20;

/// Bytes of a tensor that lie in one block, with their CRC-32C.
struct ByteRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::uint32_t crc = 0;
};

/// The ranges of `bytes`, of which the first one is byte `first` of the tensor.
std::vector<ByteRange> ranges_of(std::int64_t first, std::string_view bytes);

/// Eight hexadecimal digits for each block of a tensor of `size` bytes, one after another: of
/// ranges in any order. Empty where they leave bytes out or repeat some.
std::string block_checksums(std::vector<ByteRange> ranges, std::int64_t size);

/// How many blocks a tensor has: at least one.
std::int64_t blocks_in(std::int64_t size);

/// What `checksums`, of blocks_in() blocks, says of block `i`.
std::string_view checksum_of_block(std::string_view checksums, std::int64_t i);

/// Eight hexadecimal digits.
std::string digits_of(std::uint32_t crc);

}  // namespace ddptrain
