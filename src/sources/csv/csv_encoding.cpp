#include "sources/csv/csv_encoding.h"

#include <array>

#include "base/text.h"

namespace ddptrain {
namespace {

/// Bytes 0x80 to 0x9f of windows-1252, https://encoding.spec.whatwg.org/index-windows-1252.txt; 0
/// where it has no character.
constexpr std::array<std::uint16_t, 32> kWindows{
    0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017d, 0,      0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178};

void add_character(std::uint32_t code, std::string& text) {
  const auto tail = [&](int shift) { text += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0 | code >> 6);
    tail(0);
  } else if (code < 0x10000) {
    text += static_cast<char>(0xe0 | code >> 12);
    tail(6);
    tail(0);
  } else {
    text += static_cast<char>(0xf0 | code >> 18);
    tail(12);
    tail(6);
    tail(0);
  }
}

std::string name_of(CsvEncoding encoding) {
  return std::string(names(encoding)[static_cast<std::size_t>(encoding)]);
}

std::string from_single_bytes(std::string_view bytes, CsvEncoding encoding, const std::string& path,
                              const CsvDialect& dialect) {
  std::string text;
  text.reserve(bytes.size() + bytes.size() / 8);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const auto byte = static_cast<unsigned char>(bytes[at]);
    std::uint32_t code = byte;
    if (encoding == CsvEncoding::windows_1252 && byte >= 0x80 && byte < 0xa0)
      code = kWindows[byte - 0x80];
    if (code == 0 && byte != 0)
      fail_in_csv(bytes, path, place_of(bytes, at, dialect),
                  "the byte " + hexadecimal(bytes[at]) +
                      " is no character of windows-1252, which data.csv.encoding asks for",
                  dialect);
    add_character(code, text);
  }
  return text;
}

/// Whether there are characters beyond ASCII, and UTF-8 all of them: which a text of single bytes
/// is only by chance.
bool looks_like_utf8(std::string_view bytes) {
  if (find_invalid_utf8(bytes)) return false;
  for (const char c : bytes)
    if (static_cast<unsigned char>(c) >= 0x80) return true;
  return false;
}

/// Two bytes a unit; without a byte order mark the low one first, as Windows writes it.
std::string from_utf16(std::string_view bytes, const std::string& path, const CsvDialect& dialect) {
  const bool big = bytes.starts_with("\xfe\xff");
  if (big || bytes.starts_with("\xff\xfe")) bytes.remove_prefix(2);
  const auto unit = [&](std::size_t at) {
    const auto first = static_cast<unsigned char>(bytes[at]);
    const auto second = static_cast<unsigned char>(bytes[at + 1]);
    return static_cast<std::uint32_t>(big ? first << 8 | second : second << 8 | first);
  };
  std::string text;
  text.reserve(bytes.size());
  std::size_t at = 0;
  for (; at + 1 < bytes.size(); at += 2) {
    auto code = unit(at);
    if (code >= 0xd800 && code < 0xe000) {
      const bool pair = code < 0xdc00 && at + 3 < bytes.size();
      const auto low = pair ? unit(at + 2) : 0;
      if (low < 0xdc00 || low >= 0xe000) break;
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      at += 2;
    }
    add_character(code, text);
  }
  if (at < bytes.size())
    fail_in_csv(text, path, place_of(text, text.size(), dialect),
                "not UTF-16, which data.csv.encoding asks for", dialect);
  return text;
}

[[noreturn]] void fail_at_start(std::string_view text, const std::string& path,
                                const std::string& what) {
  fail_in_csv(text, path, {}, what, {});
}

}  // namespace

std::string_view csv_text(std::span<const std::uint8_t> bytes, CsvEncoding encoding,
                          const std::string& path, const CsvDialect& dialect,
                          std::string& decoded) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const bool marks_utf16 = text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
  const bool marks_utf8 = text.starts_with("\xef\xbb\xbf");
  if (encoding == CsvEncoding::utf_16) {
    if (marks_utf8)
      fail_at_start(text, path,
                    "UTF-8 text, as its byte order mark says, and data.csv.encoding is utf-16");
    return decoded = from_utf16(text, path, dialect);
  }
  if (marks_utf16)
    fail_at_start(text, path,
                  "UTF-16 text, as its byte order mark says; write 'data.csv.encoding: utf-16', or "
                  "save it as UTF-8");
  if (encoding == CsvEncoding::utf_8) {
    if (marks_utf8) text.remove_prefix(3);
    return text;
  }
  if (marks_utf8 || looks_like_utf8(text))
    fail_at_start(text, path,
                  "UTF-8 text, and data.csv.encoding is " + name_of(encoding) +
                      "; write 'data.csv.encoding: utf-8'");
  return decoded = from_single_bytes(text, encoding, path, dialect);
}

}  // namespace ddptrain
