#include "text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/text.h"
#include "text/scan.h"

namespace ddptrain {
namespace {

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool among(utf8proc_category_t c, utf8proc_category_t first, utf8proc_category_t last) {
  return c >= first && c <= last;
}

struct Range {
  char32_t first, last;
};

template <std::size_t n>
bool within(char32_t c, const std::array<Range, n>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [c](const Range& range) { return c >= range.first && c <= range.last; });
}

/// Cased and Case_Ignorable of DerivedCoreProperties, beyond what their categories say.
constexpr std::array<Range, 7> also_cased{{{0xaa, 0xaa},
                                           {0xba, 0xba},
                                           {0x2160, 0x217f},
                                           {0x24b6, 0x24e9},
                                           {0x1f130, 0x1f149},
                                           {0x1f150, 0x1f169},
                                           {0x1f170, 0x1f189}}};
constexpr std::array<Range, 16> also_ignorable{{{0x27, 0x27},
                                                {0x2e, 0x2e},
                                                {0x3a, 0x3a},
                                                {0xb7, 0xb7},
                                                {0x387, 0x387},
                                                {0x55f, 0x55f},
                                                {0x5f4, 0x5f4},
                                                {0x2018, 0x2019},
                                                {0x2024, 0x2024},
                                                {0x2027, 0x2027},
                                                {0xfe13, 0xfe13},
                                                {0xfe52, 0xfe52},
                                                {0xfe55, 0xfe55},
                                                {0xff07, 0xff07},
                                                {0xff0e, 0xff0e},
                                                {0xff1a, 0xff1a}}};

bool is_ignorable(char32_t c) {
  const auto kind = category(c);
  return kind == UTF8PROC_CATEGORY_MN || kind == UTF8PROC_CATEGORY_ME ||
         kind == UTF8PROC_CATEGORY_CF || kind == UTF8PROC_CATEGORY_LM ||
         kind == UTF8PROC_CATEGORY_SK || within(c, also_ignorable);
}

bool is_cased(char32_t c) {
  return among(category(c), UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LT) || within(c, also_cased);
}

/// Unicode's Final_Sigma: a cased character before the one at first .. last - 1, none behind it.
bool ends_a_word(std::string_view text, std::size_t first, std::size_t last) {
  bool cased = false;
  while (first > 0) {
    auto at = first = before_character(text, first);
    const auto c = next_character(text, at);
    if (is_ignorable(c)) continue;
    cased = is_cased(c);
    break;
  }
  if (!cased) return false;
  while (last < text.size()) {
    const auto c = next_character(text, last);
    if (!is_ignorable(c)) return !is_cased(c);
  }
  return true;
}

constexpr char32_t capital_sigma = 0x3a3, final_sigma = 0x3c2, dotted_capital_i = 0x130;

void append_lower_character(std::string& out, std::string_view text, std::size_t& at) {
  const auto first = at;
  const auto c = next_character(text, at);
  if (c == dotted_capital_i)
    out += "i\xcc\x87";
  else if (c == capital_sigma && ends_a_word(text, first, at))
    append_character(out, final_sigma);
  else
    append_character(out,
                     static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
}

void lower_ascii(char* text, std::size_t size) {
  std::size_t at = 0;
  for (; at + sizeof(scan::Eight) <= size; at += sizeof(scan::Eight)) {
    auto bytes = scan::load(text + at);
    bytes |= scan::between(bytes, 'A', 'Z') / 4;  // the bit between 'A' and 'a'
    std::memcpy(text + at, &bytes, sizeof bytes);
  }
  for (; at < size; ++at)
    if (text[at] >= 'A' && text[at] <= 'Z') text[at] = static_cast<char>(text[at] + 'a' - 'A');
}

}  // namespace

void append_character(std::string& text, char32_t c) {
  std::array<utf8proc_uint8_t, 4> bytes;
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(c), bytes.data());
  text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length));
}

bool is_wide_space(char32_t c) {
  return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
         c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

bool is_white_space(char32_t c) { return is_space(c) && (c < 0x1c || c > 0x1f); }

bool is_word(char32_t c) {
  if (c < 0x80)
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  return is_letter(c) || is_number(c);
}

bool is_rust_word(char32_t c) {
  if (c < 0x80) return is_word(c);
  switch (category(c)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:  // letters in circles and squares, and what joins letters
      return c == 0x200c || c == 0x200d || (c >= 0x24b6 && c <= 0x24e9) ||
             (c >= 0x1f130 && c <= 0x1f149) || (c >= 0x1f150 && c <= 0x1f169) ||
             (c >= 0x1f170 && c <= 0x1f189);
  }
}

bool is_letter(char32_t c) {
  return among(category(c), UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO);
}

bool is_number(char32_t c) {
  return among(category(c), UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO);
}

bool is_punctuation(char32_t c) {
  if (c < 0x80) return c > ' ' && c < 0x7f && (!is_word(c) || c == '_');
  return among(category(c), UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO);
}

void append_lower(std::string& out, std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    auto end = scan::find<0>(text, at, [](const char* p) { return scan::wide(scan::load(p)); });
    while (end < text.size() && static_cast<unsigned char>(text[end]) < 0x80) ++end;
    const auto first = out.size();
    out += text.substr(at, end - at);
    lower_ascii(out.data() + first, end - at);
    at = end;
    if (at < text.size()) append_lower_character(out, text, at);
  }
}

void append_upper(std::string& out, std::string_view text) {
  constexpr char32_t sharp_s = 0xdf;
  for (std::size_t at = 0; at < text.size();) {
    const auto c = next_character(text, at);
    if (c == sharp_s)
      out += "SS";
    else
      append_character(out,
                       static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))));
  }
}

std::string_view strip_begin(std::string_view text, bool (*blank)(char32_t)) {
  std::size_t first = 0;
  for (std::size_t at = 0; at < text.size() && blank(next_character(text, at));) first = at;
  return text.substr(first);
}

std::string_view strip_end(std::string_view text, bool (*blank)(char32_t)) {
  while (!text.empty()) {
    const auto last = before_character(text, text.size());
    auto at = last;
    if (!blank(next_character(text, at))) break;
    text.remove_suffix(text.size() - last);
  }
  return text;
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size() + text.size() / 8);
  while (const auto bad = find_invalid_utf8(text)) {
    valid += text.substr(0, *bad);
    valid += "\xef\xbf\xbd";
    text.remove_prefix(*bad);
    // As much of it as could begin a character: that byte, and what continues it rightly.
    std::size_t length = 1;
    while (length < 3 && length < text.size()) {
      // With every missing byte in its place this would be a character.
      std::string whole(text.substr(0, length + 1));
      const auto first = static_cast<unsigned char>(text[0]);
      const std::size_t wanted = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
      if (length + 1 >= wanted) break;
      whole.append(wanted - whole.size(), '\x80');
      if (find_invalid_utf8(whole)) break;
      ++length;
    }
    text.remove_prefix(length);
  }
  return valid += text;
}

}  // namespace ddptrain
