// The first bytes of a short word as a number, which distinguishes nearly all such words.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace ddptrain {

/// sizeof(Bytes) bytes of memory.
template <class Bytes>
std::uint64_t load_bytes(const char* at) {
  Bytes bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

/// The first eight bytes, or all there are: loads of fixed sizes that overlap, since a copy of any
/// size costs more than the rest of a look-up.
inline std::uint64_t first_bytes(std::string_view word) {
  const char* text = word.data();
  const auto size = word.size();
  if (size >= 8) return load_bytes<std::uint64_t>(text);
  if (size >= 4)
    return load_bytes<std::uint32_t>(text) | load_bytes<std::uint32_t>(text + size - 4)
                                                 << 8 * (size - 4);
  if (size >= 2)
    return load_bytes<std::uint16_t>(text) | load_bytes<std::uint16_t>(text + size - 2)
                                                 << 8 * (size - 2);
  return size == 1 ? load_bytes<std::uint8_t>(text) : 0;
}

}  // namespace ddptrain
