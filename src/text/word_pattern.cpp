#include "text/word_pattern.h"

#include <array>
#include <cstdint>

#include "text/unicode.h"

namespace ddptrain {
namespace {

enum CharacterKind : std::uint8_t { letter, number, blank, sign };

CharacterKind wide_kind(char32_t c) {
  return is_letter(c) ? letter : is_number(c) ? number : is_white_space(c) ? blank : sign;
}

constexpr auto ascii_kinds = [] {
  std::array<CharacterKind, 128> table{};
  for (std::size_t c = 0; c < table.size(); ++c) {
    table[c] = sign;
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) table[c] = letter;
    if (c >= '0' && c <= '9') table[c] = number;
    if (c == ' ' || (c >= '\t' && c <= '\r')) table[c] = blank;
  }
  return table;
}();

/// The kind of the character at `at`, which moves behind it.
CharacterKind next_kind(std::string_view text, std::size_t& at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) {
    ++at;
    return ascii_kinds[first];
  }
  return wide_kind(next_character(text, at));
}

/// Behind the characters of a kind that stand at `at`.
std::size_t kind_end(std::string_view text, std::size_t at, CharacterKind kind) {
  while (at < text.size()) {
    auto behind = at;
    if (next_kind(text, behind) != kind) break;
    at = behind;
  }
  return at;
}

/// \s+(?!\S)|\s+ where a blank stands: the last one is left to what follows.
std::size_t blanks_end(std::string_view text, std::size_t at) {
  const auto end = kind_end(text, at, blank);
  if (end == text.size()) return end;
  const auto last = before_character(text, end);
  return last > at ? last : end;
}

bool is_line_end(char c) { return c == '\r' || c == '\n'; }

std::size_t line_ends_end(std::string_view text, std::size_t at) {
  while (at < text.size() && is_line_end(text[at])) ++at;
  return at;
}

/// (?i:'s|'t|'re|'ve|'m|'ll|'d); without case, the long s of German print is an s.
std::size_t any_case_ending(std::string_view text, std::size_t at) {
  constexpr std::string_view long_s = "'\xc5\xbf";
  if (text.substr(at).starts_with(long_s)) return at + long_s.size();
  const auto lower = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<char>(text[at + i] | 0x20) : '\0';
  };
  const char first = lower(1), second = lower(2);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return at + 2;
  const bool two = (first == 'r' && second == 'e') || (first == 'v' && second == 'e') ||
                   (first == 'l' && second == 'l');
  return two ? at + 3 : at;
}

std::size_t digits_end(std::string_view text, std::size_t at, int most) {
  for (int digits = 0; digits < most && at < text.size(); ++digits) {
    auto behind = at;
    if (next_kind(text, behind) != number) break;
    at = behind;
  }
  return at;
}

/// \s*[\r\n]+|\s+(?!\S)|\s+
std::size_t lines_end(std::string_view text, std::size_t at) {
  auto last = kind_end(text, at, blank);
  while (last > at && !is_line_end(text[last - 1])) --last;
  return last > at ? last : blanks_end(text, at);
}

/// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,most}| ?[^\s\p{L}\p{N}]+[\r\n]*|
/// \s*[\r\n]+|\s+(?!\S)|\s+
template <int most_digits>
std::size_t gpt4_word_end(std::string_view text, std::size_t at) {
  if (text[at] == '\'')
    if (const auto end = any_case_ending(text, at); end > at) return end;
  auto behind = at;
  const auto kind = next_kind(text, behind);
  if (kind == letter) return kind_end(text, behind, letter);
  if (kind == number) return digits_end(text, at, most_digits);
  auto beyond = behind;
  const auto next = behind < text.size() ? next_kind(text, beyond) : blank;
  if (next == letter && !is_line_end(text[at])) return kind_end(text, beyond, letter);
  if (kind == sign || (text[at] == ' ' && next == sign))
    return line_ends_end(text, kind_end(text, behind, sign));
  return lines_end(text, at);
}

struct KnownPattern {
  std::string_view regex;
  WordEnd end;
};

constexpr std::array<KnownPattern, 5> known_patterns{{
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
     gpt2_word_end},
    {R"('(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", gpt2_word_end},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
     R"(\s*[\r\n]+|\s+(?!\S)|\s+)",
     gpt4_word_end<3>},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|)"
     R"(\s*[\r\n]+|\s+(?!\S)|\s+)",
     gpt4_word_end<1>},
    {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|)"
     R"(\s*[\r\n]|\s+(?!\S)|\s+)",
     gpt4_word_end<3>},
}};

}  // namespace

std::size_t gpt2_word_end(std::string_view text, std::size_t at) {
  if (text[at] == '\'')
    for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
      if (text.substr(at).starts_with(ending)) return at + ending.size();
  auto behind = at;
  if (text[at] == ' ' && at + 1 < text.size()) ++behind;
  const auto kind = next_kind(text, behind);
  return kind == blank ? blanks_end(text, at) : kind_end(text, behind, kind);
}

WordEnd find_word_pattern(std::string_view regex) {
  for (const auto& known : known_patterns)
    if (known.regex == regex) return known.end;
  return nullptr;
}

}  // namespace ddptrain
