// Foreign text that a terminal, a log or CI may see.
#include <cctype>
#include <cstdio>

#include "base/text.h"

namespace ddptrain {
namespace {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
  bool valid = true;
};

/// The first character of what is not empty; a byte that begins none is itself, and not valid.
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return {byte(0)};
  const std::size_t length = byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (text.size() < length || find_invalid_utf8(text.substr(0, length))) return {byte(0), 1, false};
  char32_t code = byte(0) & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) code = code << 6 | (byte(i) & 0x3FU);
  return {code, length};
}

/// Unicode's Cc, the characters of bidirectional text (UAX 9), line and paragraph separators, and
/// invisible ones: byte order mark, tags.
bool steers(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x61C || (c >= 0x200E && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF ||
         (c >= 0xFFF9 && c <= 0xFFFB) || (c >= 0xE0000 && c <= 0xE007F);
}

std::string escaped(const Character& c) {
  if (c.code == '\n') return "\\n";
  if (c.code == '\r') return "\\r";
  if (c.code == '\t') return "\\t";
  char code[16];
  const char* form = c.code < 0x100 ? "\\x%02x" : c.code < 0x10000 ? "\\u%04x" : "\\U%08x";
  std::snprintf(code, sizeof code, form, static_cast<unsigned>(c.code));
  return code;
}

/// "##[error]" and "##vso[...]" are commands anywhere in a line (GitHub Actions, Azure).
bool begins_command(std::string_view text) {
  if (!text.starts_with("##")) return false;
  std::size_t at = 2;
  while (at < text.size() && at < 20 && std::isalpha(static_cast<unsigned char>(text[at]))) ++at;
  return at < text.size() && text[at] == '[';
}

/// One line; a tabulator stays where it may.
void add_line(std::string& result, std::string_view line, bool tabulators) {
  const auto start = line.find_first_not_of(" \t\r\v\f");
  for (std::size_t at = 0; at < line.size();) {
    const auto c = first_character(line.substr(at));
    const bool kept_tabulator = tabulators && c.code == '\t';
    if (at == start && line.substr(at).starts_with("::"))
      result += "\\x3a";
    else if (c.code == '#' && begins_command(line.substr(at)))
      result += "\\x23";
    else if (!c.valid || (steers(c.code) && !kept_tabulator))
      result += escaped(c);
    else
      result += line.substr(at, c.bytes);
    at += c.bytes;
  }
}

/// Both ends of a text, cut between characters, and how much is missing.
std::string without_middle(std::string_view text, std::size_t most) {
  const auto is_inside = [&](std::size_t at) { return (text[at] & 0xC0) == 0x80; };
  auto head = most / 4 * 3, tail = text.size() - most / 4;
  for (int i = 0; i < 3 && head > 0 && is_inside(head); ++i) --head;
  for (int i = 0; i < 3 && tail < text.size() && is_inside(tail); ++i) ++tail;
  return std::string(text.substr(0, head)) + " ... (" +
         plural(static_cast<std::int64_t>(tail - head), "byte") + " left out) ... " +
         std::string(text.substr(tail));
}

}  // namespace

std::string shown(std::string_view text, std::size_t most) {
  std::string result;
  if (text.size() > most)
    add_line(result, without_middle(text, most), false);
  else
    add_line(result, text, false);
  return result;
}

std::string shown_lines(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (;;) {
    const auto end = text.find('\n');
    add_line(result, text.substr(0, end), true);
    if (end == std::string_view::npos) return result;
    result += '\n';
    text.remove_prefix(end + 1);
  }
}

}  // namespace ddptrain
