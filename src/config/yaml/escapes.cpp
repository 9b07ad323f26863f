#include "config/yaml/escapes.h"

#include <cctype>
#include <charconv>
#include <optional>
#include <string>

#include "config/finding.h"

namespace ddptrain {
namespace {

bool is_high(unsigned code) { return code >= 0xD800 && code <= 0xDBFF; }
bool is_low(unsigned code) { return code >= 0xDC00 && code <= 0xDFFF; }

/// How many hexadecimal digits follow; 0: none.
std::size_t digits_of(char letter) {
  if (letter == 'x') return 2;
  if (letter == 'u') return 4;
  return letter == 'U' ? 8 : 0;
}

std::optional<unsigned> hexadecimal(std::string_view digits) {
  unsigned code = 0;
  const auto* end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, code, 16);
  const bool whole = read.ec == std::errc() && read.ptr == end;
  return whole ? std::optional(code) : std::nullopt;
}

/// The half of a pair that stands at `at`; nothing where something else does.
std::optional<unsigned> half_at(std::string_view text, std::size_t at, std::size_t end) {
  if (at + 6 > end || text[at] != '\\' || text[at + 1] != 'u') return {};
  return hexadecimal(text.substr(at + 2, 4));
}

[[noreturn]] void refuse_code(std::string_view escape, unsigned code, std::size_t at) {
  const std::string written(escape);
  if (code == 0) refuse_at(at, "'" + written + "' is the character NUL, which no text may hold");
  if (is_high(code))
    refuse_at(at, "'" + written + "' is half a character; '\\uDC00' to '\\uDFFF' must follow it");
  if (is_low(code))
    refuse_at(at,
              "'" + written + "' is half a character; '\\uD800' to '\\uDBFF' must stand before it");
  refuse_at(at, "'" + written + "' is above the last character, '\\U0010FFFF'");
}

std::size_t coded_size(std::string_view text, std::size_t at, std::size_t end, std::size_t digits) {
  const auto size = 2 + digits;
  const auto code = at + size <= end ? hexadecimal(text.substr(at + 2, digits)) : std::nullopt;
  if (!code)
    refuse_at(at, std::string("'\\") + text[at + 1] + "' needs " + std::to_string(digits) +
                      " hexadecimal digits");
  const auto next = is_high(*code) && digits == 4 ? half_at(text, at + size, end) : std::nullopt;
  if (next && is_low(*next)) return kPairSize;
  if (*code == 0 || is_high(*code) || is_low(*code) || *code > 0x10FFFF)
    refuse_code(text.substr(at, size), *code, at);
  return size;
}

}  // namespace

std::size_t escape_size(std::string_view text, std::size_t at, std::size_t end) {
  if (at + 1 >= end) return 1;  // the quote is not closed, which is reported elsewhere
  const char letter = text[at + 1];
  if (const auto digits = digits_of(letter)) return coded_size(text, at, end, digits);
  constexpr std::string_view known = "abtnvfre \"/\\N_LP\t";
  if (known.find(letter) != std::string_view::npos) return 2;
  if (letter == '0') refuse_code("\\0", 0, at);
  if (letter == '\'')
    refuse_at(at, "\"\\'\" is no escape; between double quotes write \"'\" alone");
  const bool visible = std::isgraph(static_cast<unsigned char>(letter)) != 0;
  const std::string shown = visible ? std::string("\\") + letter : "\\";
  refuse_at(at, "'" + shown + "' is no escape; write '\\" + shown +
                    "' for a backslash, or put the text in single quotes");
}

unsigned pair_code(std::string_view text, std::size_t at) {
  const auto high = hexadecimal(text.substr(at + 2, 4)).value_or(0xD800);
  const auto low = hexadecimal(text.substr(at + 8, 4)).value_or(0xDC00);
  return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

}  // namespace ddptrain
