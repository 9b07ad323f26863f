#include "text/byte_characters.h"

#include <array>

#include "text/unicode.h"

namespace ddptrain {
namespace {

constexpr char32_t first_spare = 256;  // bytes that are not seen have characters from here on

constexpr bool is_seen(char32_t byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

struct ByteTables {
  std::array<std::string, 256> characters;
  std::array<int, 512> bytes;  // -1: no byte
};

const ByteTables& tables() {
  static const ByteTables made = [] {
    ByteTables all;
    all.bytes.fill(-1);
    char32_t spare = first_spare;
    for (char32_t byte = 0; byte < 256; ++byte) {
      const char32_t c = is_seen(byte) ? byte : spare++;
      append_character(all.characters[byte], c);
      all.bytes[c] = static_cast<int>(byte);
    }
    return all;
  }();
  return made;
}

}  // namespace

void append_byte_characters(std::string& out, std::string_view bytes) {
  for (const char byte : bytes) out += tables().characters[static_cast<unsigned char>(byte)];
}

std::optional<std::string> bytes_of_characters(std::string_view characters) {
  std::string bytes;
  for (std::size_t at = 0; at < characters.size();) {
    const auto c = next_character(characters, at);
    const int byte = c < tables().bytes.size() ? tables().bytes[c] : -1;
    if (byte < 0) return std::nullopt;
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

}  // namespace ddptrain
