#include "text/fastai/html.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "text/unicode.h"

namespace ddptrain {
namespace {

constexpr std::size_t longest_name = 32;

using Table = std::unordered_map<std::string_view, std::string_view>;

const Table& named() {
  static const Table table = [] {
    Table made;
    for (std::string_view rest = html_entities; !rest.empty();) {
      const auto name = rest.substr(0, rest.find(' '));
      rest.remove_prefix(name.size() + 1);
      const auto value = rest.substr(0, rest.find(' '));
      rest.remove_prefix(value.size() + 1);
      made.emplace(name, value);
    }
    return made;
  }();
  return table;
}

/// What browsers make of 0x80 .. 0x9f: Windows' code page 1252.
constexpr std::array<char32_t, 32> windows{
    0x20ac, 0x81,   0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021, 0x2c6,  0x2030, 0x160,
    0x2039, 0x152,  0x8d,   0x17d,  0x8f,   0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0x9d,   0x17e,  0x178};

bool is_left_out(char32_t c) {
  const bool control = c < 0x20 && c != '\t' && c != '\n' && c != '\f' && c != '\r';
  return control || c == 0x7f || (c >= 0xfdd0 && c <= 0xfdef) || (c & 0xfffe) == 0xfffe;
}

void append_number(std::string& out, char32_t c) {
  if (c == 0 || (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff)
    append_character(out, 0xfffd);
  else if (c >= 0x80 && c <= 0x9f)
    append_character(out, windows[c - 0x80]);
  else if (!is_left_out(c))
    append_character(out, c);
}

int digit_of(char c, int base) {
  const int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : 99;
  return digit < base ? digit : -1;
}

/// Bytes of "#38;" read at the beginning of `text`, 0 where it is none.
std::size_t number_length(std::string_view text, char32_t& value) {
  const bool hexadecimal = text.size() > 1 && (text[1] == 'x' || text[1] == 'X');
  const std::size_t first = hexadecimal ? 2 : 1;
  std::size_t at = first;
  value = 0;
  for (int digit = 0; at < text.size(); ++at) {
    digit = digit_of(text[at], hexadecimal ? 16 : 10);
    if (digit < 0) break;
    value = std::min<char32_t>(value * (hexadecimal ? 16 : 10) + static_cast<char32_t>(digit),
                               0x110000);
  }
  if (at == first) return 0;
  return at + (at < text.size() && text[at] == ';');
}

/// Bytes of what could be a name at the beginning of `text`, and whether a ';' ends it.
std::size_t name_length(std::string_view text) {
  std::size_t at = 0;
  for (std::size_t count = 0; count < longest_name && at < text.size(); ++count) {
    if (std::string_view("\t\n\f <&#;").find(text[at]) != std::string_view::npos) break;
    next_character(text, at);
  }
  if (at == 0) return 0;
  return at + (at < text.size() && text[at] == ';');
}

void append_named(std::string& out, std::string_view name) {
  for (auto length = name.size(); length > 1; --length) {
    const auto found = named().find(name.substr(0, length));
    if (found == named().end()) continue;
    out += found->second;
    out += name.substr(length);
    return;
  }
  out += '&';
  out += name;
}

}  // namespace

void append_unescaped(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const auto at = std::min(text.find('&'), text.size());
    out += text.substr(0, at);
    text.remove_prefix(at);
    if (text.empty()) return;
    text.remove_prefix(1);
    char32_t value = 0;
    const bool number = text.starts_with('#');
    const auto length = number ? number_length(text, value) : name_length(text);
    if (length == 0)
      out += '&';
    else if (number)
      append_number(out, value);
    else
      append_named(out, text.substr(0, length));
    text.remove_prefix(length);
  }
}

}  // namespace ddptrain
