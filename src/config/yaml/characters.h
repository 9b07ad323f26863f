// Characters that word processors and web pages put where YAML means another one.
#pragma once

#include <cstddef>
#include <string_view>

namespace ddptrain {

/// Throws a Finding where the character at a byte cannot be seen and is none of YAML's blanks, such
/// as a non-breaking space.
void refuse_invisible(std::string_view text, std::size_t at);

/// Throws a Finding where a value starts with a character that only looks like YAML's, such as a
/// curly quotation mark.
void refuse_lookalike(std::string_view text, std::size_t at);

/// Whether either would be refused in a text that stands without quotes.
bool is_deceptive(std::string_view text);

}  // namespace ddptrain
