#include "base/output/table_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/output/terminal.h"
#include "base/text.h"

namespace ddptrain {
namespace {

/// Bytes of the character at `at`; 1 of what is no UTF-8.
std::size_t length_at(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
  return find_invalid_utf8(text.substr(at, length)) ? 1 : length;
}

/// Code point of the character that `text` begins with; what is no UTF-8 stands for itself.
char32_t code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.size() == 1) return byte(0);
  char32_t point = byte(0) & (0xFFU >> (text.size() + 1));
  for (std::size_t i = 1; i < text.size(); ++i) point = point << 6 | (byte(i) & 0x3FU);
  return point;
}

struct CodeRange {
  char32_t first, last;
  std::size_t width;
};

constexpr std::array kOddWidths{
    CodeRange{0x300, 0x36F, 0},   CodeRange{0x1100, 0x115F, 2},   CodeRange{0x200B, 0x200F, 0},
    CodeRange{0x2E80, 0xA4CF, 2}, CodeRange{0xAC00, 0xD7A3, 2},   CodeRange{0xF900, 0xFAFF, 2},
    CodeRange{0xFE00, 0xFE0F, 0}, CodeRange{0xFE30, 0xFE6F, 2},   CodeRange{0xFF00, 0xFF60, 2},
    CodeRange{0xFFE0, 0xFFE6, 2}, CodeRange{0x1F300, 0x1FAFF, 2}, CodeRange{0x20000, 0x3FFFD, 2}};

std::size_t width_of(char32_t point) {
  for (const auto& range : kOddWidths)
    if (point >= range.first && point <= range.last) return range.width;
  return 1;
}

std::string padding(std::size_t width, const std::string& cell) {
  return std::string(width - display_width(cell), ' ');
}

/// What a number is written with.
bool is_of_number(char c) {
  return (c >= '0' && c <= '9') || c == '.' || c == '+' || c == '-' || c == 'e' || c == 'E';
}

/// Where to truncate a line that is too long at `end`: before a number that `end` would split,
/// unless nothing would be left.
std::size_t before_number(std::string_view line, std::size_t end) {
  auto first = end, last = end;
  while (first > 0 && is_of_number(line[first - 1])) --first;
  while (last < line.size() && is_of_number(line[last])) ++last;
  const auto number = line.substr(first, last - first);
  const bool goes_on = first > 0 && first < end && end < last;
  return goes_on && number.find_first_of("0123456789") != number.npos ? first : end;
}

using Cells = std::vector<std::vector<std::string>>;

/// Text in lines of at most `columns`, broken at blanks; a word that is wider is cut.
void add_text(std::vector<std::string>& lines, const std::string& text, std::size_t columns) {
  for (const auto& line : split(broken_at_blanks(text, columns), '\n'))
    lines.push_back(one_line(line, columns));
}

/// "  title  value", in several lines where that is too wide.
void add_cell(std::vector<std::string>& lines, const std::string& title, const std::string& value,
              std::size_t columns) {
  auto line = "  " + title + (title.empty() ? "" : "  ") + value;
  if (display_width(line) <= columns) return lines.push_back(std::move(line));
  if (!title.empty()) add_text(lines, "  " + title, columns);
  const auto width = display_width(value);
  const auto indent = std::min<std::size_t>(4, columns > width ? columns - width : 0);
  add_text(lines, std::string(indent, ' ') + value, columns);
}

std::vector<std::string> in_blocks(const Cells& rows, std::size_t columns) {
  std::vector<std::string> lines;
  const auto& header = rows[0];
  for (std::size_t row = 1; row < rows.size(); ++row) {
    const auto& cells = rows[row];
    if (cells.empty()) continue;
    add_text(lines, header[0] + (header[0].empty() ? "" : " ") + cells[0], columns);
    for (std::size_t i = 1; i < cells.size(); ++i)
      if (!cells[i].empty()) add_cell(lines, i < header.size() ? header[i] : "", cells[i], columns);
  }
  return lines;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto length = length_at(text, at);
    width += width_of(code_point(text.substr(at, length)));
    at += length;
  }
  return width;
}

std::string one_line(std::string_view text, std::size_t most) {
  const auto line = shown(text);
  if (display_width(line) <= most) return line;
  const std::string dots = most > 3 ? "..." : "";
  std::size_t end = 0, width = 0;
  while (end < line.size()) {
    const auto length = length_at(line, end);
    width += display_width(std::string_view(line).substr(end, length));
    if (width + dots.size() > most) break;
    end += length;
  }
  return line.substr(0, before_number(line, end)) + dots;
}

std::vector<std::string> aligned(const Cells& rows, Flush flush) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i]));
  }
  std::vector<std::string> lines;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto blanks = padding(widths[i], row[i]);
      if (i > 0) line += "  ";
      line += i == 0 || flush == Flush::left ? row[i] + blanks : blanks + row[i];
    }
    lines.push_back(line.substr(0, line.find_last_not_of(' ') + 1));
  }
  return lines;
}

bool all_fit(const std::vector<std::string>& lines, std::size_t columns) {
  return columns == 0 || std::all_of(lines.begin(), lines.end(), [&](const auto& line) {
           return display_width(line) <= columns;
         });
}

std::vector<std::string> table_lines(const Cells& rows, std::size_t columns) {
  auto lines = aligned(rows);
  if (rows.empty() || rows[0].empty() || all_fit(lines, columns)) return lines;
  lines = in_blocks(rows, columns);
  const auto note = broken_at_blanks("(a block for each row: the table is wider)", columns);
  for (auto& line : split(note, '\n')) lines.push_back(std::move(line));
  return lines;
}

std::string short_number(double value) {
  if (std::isnan(value)) return "-";
  const double size = std::abs(value);
  char text[32];
  std::snprintf(text, sizeof text, size >= 99999.5 && size < 1e9 ? "%.0f" : "%.5g", value);
  return text;
}

}  // namespace ddptrain
