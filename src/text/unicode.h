// Characters of UTF-8 text, with the properties that Python's str and re give them.
#pragma once

#include <string>
#include <string_view>

namespace ddptrain {

/// The character that begins at `at`, which moves behind it. `text` is UTF-8 and `at` inside of it.
inline char32_t next_character(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) {
    return static_cast<char32_t>(static_cast<unsigned char>(text[at + i]));
  };
  const auto first = byte(0);
  char32_t c = first;
  std::size_t length = 1;
  if (first >= 0xF0) {
    c = (first & 7) << 18 | (byte(1) & 63) << 12 | (byte(2) & 63) << 6 | (byte(3) & 63);
    length = 4;
  } else if (first >= 0xE0) {
    c = (first & 15) << 12 | (byte(1) & 63) << 6 | (byte(2) & 63);
    length = 3;
  } else if (first >= 0x80) {
    c = (first & 31) << 6 | (byte(1) & 63);
    length = 2;
  }
  at += length;
  return c;
}
/// Where the character before `at` begins. `at` is not 0.
inline std::size_t before_character(std::string_view text, std::size_t at) {
  do --at;
  while ((text[at] & 0xC0) == 0x80);
  return at;
}
void append_character(std::string& text, char32_t c);

bool is_wide_space(char32_t c);  // those beyond ASCII
/// str.isspace, \s
inline bool is_space(char32_t c) {
  if (c >= 0x80) return is_wide_space(c);
  return c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x1f);
}
bool is_white_space(char32_t c);  // Unicode's White_Space: the same without U+001C .. U+001F
bool is_word(char32_t c);         // str.isalnum or '_', \w
/// \w of Rust's regular expressions: Alphabetic, M, Nd, Pc, Join_Control.
bool is_rust_word(char32_t c);
bool is_letter(char32_t c);  // categories L*, \p{L}
bool is_number(char32_t c);  // categories N*, \p{N}
/// As BERT has it: ASCII symbols, and categories P*.
bool is_punctuation(char32_t c);

/// str.lower with its special cases: İ becomes two characters, a capital sigma that ends a word ς.
void append_lower(std::string& out, std::string_view text);

/// str.upper, of whose special cases it has ß alone.
void append_upper(std::string& out, std::string_view text);

/// str.lstrip, str.rstrip, or without other characters.
std::string_view strip_begin(std::string_view text, bool (*blank)(char32_t) = is_space);
std::string_view strip_end(std::string_view text, bool (*blank)(char32_t) = is_space);

/// U+FFFD for each byte that no character of UTF-8 text has, as errors='replace' gives one for each
/// maximal part of a character that was begun (Unicode, chapter 3, table 3-8).
std::string replace_invalid_utf8(std::string_view text);

}  // namespace ddptrain
