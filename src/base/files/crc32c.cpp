#include "base/files/crc32c.h"

#include <array>
#include <bit>
#include <cstring>

namespace ddptrain {
namespace {

static_assert(std::endian::native == std::endian::little);

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

// table[k][b]: what byte b contributes when k bytes follow it ("slicing by eight").
constexpr Tables make_tables() {
  Tables table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? 0x82f63b78u : 0u);
    table[0][byte] = crc;
  }
  for (std::size_t byte = 0; byte < 256; ++byte)
    for (std::size_t k = 1; k < 8; ++k)
      table[k][byte] = (table[k - 1][byte] >> 8) ^ table[0][table[k - 1][byte] & 0xff];
  return table;
}

constexpr Tables tables = make_tables();

}  // namespace

std::uint32_t crc32c(std::string_view bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    word ^= crc;
    crc = 0;
    for (std::size_t k = 0; k < 8; ++k) crc ^= tables[7 - k][(word >> (8 * k)) & 0xff];
  }
  for (const char c : bytes)
    crc = (crc >> 8) ^ tables[0][(crc ^ static_cast<unsigned char>(c)) & 0xff];
  return ~crc;
}

}  // namespace ddptrain
