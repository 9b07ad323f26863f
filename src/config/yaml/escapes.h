// What a backslash means in YAML's double quotes.
#pragma once

#include <cstddef>
#include <string_view>

namespace ddptrain {

/// Bytes of the escape whose backslash stands at `at`, in a line that ends at `end`; throws a
/// Finding where YAML has none. A surrogate pair, as JSON writes it, counts as one.
std::size_t escape_size(std::string_view text, std::size_t at, std::size_t end);

/// Bytes of a surrogate pair: '\uD83D\uDE00'.
constexpr std::size_t kPairSize = 12;
/// The code point of the pair that stands at `at`.
unsigned pair_code(std::string_view text, std::size_t at);

}  // namespace ddptrain
