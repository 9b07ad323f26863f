// Characters that YAML gives a meaning: what only looks like one of them, and what a backslash
// means in double quotes.
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

/// Bytes of the escape whose backslash stands at `at`, in a line that ends at `end`; throws a
/// Finding where YAML has none. A surrogate pair, as JSON writes it, counts as one.
std::size_t escape_size(std::string_view text, std::size_t at, std::size_t end);

/// Bytes of a surrogate pair: '\uD83D\uDE00'.
constexpr std::size_t kPairSize = 12;
/// The code point of the pair that stands at `at`.
unsigned pair_code(std::string_view text, std::size_t at);

}  // namespace ddptrain
