// Characters of UTF-8 text, with the properties that Python's str and re give them.
#pragma once

#include <string>
#include <string_view>

namespace ddptrain {

/// The character that begins at `at`, which moves behind it. `text` is UTF-8 and `at` inside of it.
char32_t next_character(std::string_view text, std::size_t& at);
void append_character(std::string& text, char32_t c);

bool is_space(char32_t c);        // str.isspace, \s
bool is_white_space(char32_t c);  // Unicode's White_Space: the same without U+001C .. U+001F
bool is_word(char32_t c);         // str.isalnum or '_', \w
bool is_letter(char32_t c);       // categories L*, \p{L}
bool is_number(char32_t c);       // categories N*, \p{N}
/// As BERT has it: ASCII symbols, and categories P*.
bool is_punctuation(char32_t c);

/// str.lower with its special cases: İ becomes two characters, a capital sigma that ends a word ς.
void append_lower(std::string& out, std::string_view text);

/// str.lstrip, str.rstrip, or without other characters.
std::string_view strip_begin(std::string_view text, bool (*blank)(char32_t) = is_space);
std::string_view strip_end(std::string_view text, bool (*blank)(char32_t) = is_space);

/// U+FFFD for each byte that no character of UTF-8 text has, as errors='replace' gives one for each
/// maximal part of a character that was begun (Unicode, chapter 3, table 3-8).
std::string replace_invalid_utf8(std::string_view text);

}  // namespace ddptrain
