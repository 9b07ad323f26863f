// Looks for bytes of text eight at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace ddptrain::scan {

static_assert(std::endian::native == std::endian::little);

/// Eight bytes of text. Of an answer the high bit of each byte counts, no other is set.
using Eight = std::uint64_t;

constexpr Eight each(unsigned char byte) { return byte * Eight{0x0101010101010101}; }
constexpr Eight high_bits = each(0x80);

inline Eight load(const char* text) {
  Eight bytes = 0;
  std::memcpy(&bytes, text, sizeof bytes);
  return bytes;
}

inline Eight wide(Eight bytes) { return bytes & high_bits; }  // parts of what is no ASCII
inline Eight zero(Eight bytes) {
  return ~(((bytes & ~high_bits) + ~high_bits) | bytes) & high_bits;
}
inline Eight equal(Eight bytes, char c) {
  return zero(bytes ^ each(static_cast<unsigned char>(c)));
}
/// first .. last, both ASCII.
inline Eight between(Eight bytes, char first, char last) {
  const auto low = bytes & ~high_bits;
  const auto from = low + each(static_cast<unsigned char>(0x80 - first));
  const auto behind = low + each(static_cast<unsigned char>(0x7f - last));
  return from & ~behind & ~bytes & high_bits;
}

/// The first place from `at` on that `hits` marks, given a pointer to eight bytes and `reach` more;
/// nearer to the end than these, where it stopped: what is there is for the caller to look at.
template <std::size_t reach, class Hits>
std::size_t find(std::string_view text, std::size_t at, Hits hits) {
  for (; at + sizeof(Eight) + reach <= text.size(); at += sizeof(Eight))
    if (const auto found = hits(text.data() + at))
      return at + static_cast<std::size_t>(std::countr_zero(found)) / 8;
  return at;
}

}  // namespace ddptrain::scan
