// The checksum of TensorBoard's records and of single tensors in a checkpoint: CRC-32C (Castagnoli,
// RFC 3720 appendix B.4).
#pragma once

#include <cstdint>
#include <string_view>

namespace ddptrain {

/// Of `bytes`, continuing from the checksum of what came before them.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

}  // namespace ddptrain
