// Changes of single values, whose 256 results for bytes are computed once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ddptrain {

/// What becomes of each byte.
using ByteTable = std::array<std::uint8_t, 256>;

/// From curve(std::uint8_t).
template <class Curve>
ByteTable table_of(const Curve& curve) {
  ByteTable table;
  for (std::size_t i = 0; i < table.size(); ++i) table[i] = curve(static_cast<std::uint8_t>(i));
  return table;
}

inline void look_up(const ByteTable& table, std::vector<std::uint8_t>& bytes) {
  for (auto& byte : bytes) byte = table[byte];
}

}  // namespace ddptrain
