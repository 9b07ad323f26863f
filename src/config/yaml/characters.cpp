#include "config/yaml/characters.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <span>
#include <string>

#include "config/finding.h"

namespace ddptrain {
namespace {

/// `name` as Unicode has it, in lower case; `write` is what YAML wants.
struct Character {
  std::string_view bytes;
  std::string_view code;
  std::string_view name;
  std::string_view write;
};

constexpr std::string_view kSpace = "a plain space";
constexpr std::string_view kNothing = "nothing";
constexpr std::string_view kQuote = "'\"'";
constexpr std::string_view kMinus = "'-'";

constexpr std::array<Character, 21> invisible{{
    {"\xC2\x85", "U+0085", "next line", "a line break"},
    {"\xC2\xA0", "U+00A0", "no-break space", kSpace},
    {"\xE2\x80\x80", "U+2000", "en quad", kSpace},
    {"\xE2\x80\x81", "U+2001", "em quad", kSpace},
    {"\xE2\x80\x82", "U+2002", "en space", kSpace},
    {"\xE2\x80\x83", "U+2003", "em space", kSpace},
    {"\xE2\x80\x84", "U+2004", "three-per-em space", kSpace},
    {"\xE2\x80\x85", "U+2005", "four-per-em space", kSpace},
    {"\xE2\x80\x86", "U+2006", "six-per-em space", kSpace},
    {"\xE2\x80\x87", "U+2007", "figure space", kSpace},
    {"\xE2\x80\x88", "U+2008", "punctuation space", kSpace},
    {"\xE2\x80\x89", "U+2009", "thin space", kSpace},
    {"\xE2\x80\x8A", "U+200A", "hair space", kSpace},
    {"\xE2\x80\x8B", "U+200B", "zero width space", kNothing},
    {"\xE2\x80\xA8", "U+2028", "line separator", "a line break"},
    {"\xE2\x80\xA9", "U+2029", "paragraph separator", "a line break"},
    {"\xE2\x80\xAF", "U+202F", "narrow no-break space", kSpace},
    {"\xE2\x81\x9F", "U+205F", "medium mathematical space", kSpace},
    {"\xE2\x81\xA0", "U+2060", "word joiner", kNothing},
    {"\xE3\x80\x80", "U+3000", "ideographic space", kSpace},
    {"\xEF\xBB\xBF", "U+FEFF", "byte order mark", kNothing},
}};

constexpr std::array<Character, 14> lookalikes{{
    {"\xC2\xAB", "U+00AB", "left-pointing double angle quotation mark", kQuote},
    {"\xC2\xBB", "U+00BB", "right-pointing double angle quotation mark", kQuote},
    {"\xE2\x80\x90", "U+2010", "hyphen", kMinus},
    {"\xE2\x80\x91", "U+2011", "non-breaking hyphen", kMinus},
    {"\xE2\x80\x93", "U+2013", "en dash", kMinus},
    {"\xE2\x80\x94", "U+2014", "em dash", kMinus},
    {"\xE2\x80\x98", "U+2018", "left single quotation mark", "\"'\""},
    {"\xE2\x80\x99", "U+2019", "right single quotation mark", "\"'\""},
    {"\xE2\x80\x9A", "U+201A", "single low-9 quotation mark", "\"'\""},
    {"\xE2\x80\x9C", "U+201C", "left double quotation mark", kQuote},
    {"\xE2\x80\x9D", "U+201D", "right double quotation mark", kQuote},
    {"\xE2\x80\x9E", "U+201E", "double low-9 quotation mark", kQuote},
    {"\xE2\x80\xA2", "U+2022", "bullet", kMinus},
    {"\xE2\x88\x92", "U+2212", "minus sign", kMinus},
}};

/// The character of a set that a text starts with; null: none.
const Character* first_of(std::span<const Character> set, std::string_view text) {
  for (const auto& character : set)
    if (text.starts_with(character.bytes)) return &character;
  return nullptr;
}

void refuse_of(std::span<const Character> set, std::string_view text, std::size_t at) {
  const auto* found = first_of(set, text.substr(at));
  if (!found) return;
  refuse_at(at, fmt::format("{} ({}); write {}", found->name, found->code, found->write));
}

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
  if (!code) refuse_at(at, fmt::format("'\\{}' needs {} hexadecimal digits", text[at + 1], digits));
  const auto next = is_high(*code) && digits == 4 ? half_at(text, at + size, end) : std::nullopt;
  if (next && is_low(*next)) return kPairSize;
  if (*code == 0 || is_high(*code) || is_low(*code) || *code > 0x10FFFF)
    refuse_code(text.substr(at, size), *code, at);
  return size;
}

}  // namespace

void refuse_invisible(std::string_view text, std::size_t at) {
  if (static_cast<unsigned char>(text[at]) >= 0xC2) refuse_of(invisible, text, at);
}

void refuse_lookalike(std::string_view text, std::size_t at) {
  if (static_cast<unsigned char>(text[at]) >= 0xC2) refuse_of(lookalikes, text, at);
}

bool is_deceptive(std::string_view text) {
  if (first_of(lookalikes, text)) return true;
  for (std::size_t at = 0; at < text.size(); ++at)
    if (static_cast<unsigned char>(text[at]) >= 0xC2 && first_of(invisible, text.substr(at)))
      return true;
  return false;
}

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
