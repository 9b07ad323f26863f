// GPT-2's bytes_to_unicode: each byte as a character that is seen, as the tokens of a byte-level
// vocabulary are written.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ddptrain {

/// Appends the character of each byte.
void append_byte_characters(std::string& out, std::string_view bytes);
/// The bytes of UTF-8 characters; none where a character stands for no byte.
std::optional<std::string> bytes_of_characters(std::string_view characters);

}  // namespace ddptrain
