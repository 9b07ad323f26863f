// "%2C" for ",": URIs and the commands of GitHub Actions share the form, not the characters.
#pragma once

#include <string>
#include <string_view>

namespace ddptrain {

/// Bytes for which `stays` is false as % and two hexadecimal digits.
template <class Stays>
std::string percent_encoded(std::string_view text, Stays stays) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    if (stays(c)) {
      encoded += c;
      continue;
    }
    const auto code = static_cast<unsigned char>(c);
    encoded += {'%', digits[code >> 4], digits[code & 15]};
  }
  return encoded;
}

}  // namespace ddptrain
