#include "base/output/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/output/table_text.h"
#include "base/text.h"

namespace ddptrain {
namespace {

constexpr std::size_t kUsualColumns = 80;

std::string joined(const std::vector<StatusField>& fields, int most) {
  std::vector<std::string> parts;
  for (const auto& field : fields)
    if (field.drop <= most) parts.push_back(field.text);
  return join(parts, "  ");
}

}  // namespace

std::size_t terminal_columns(int descriptor) {
  if (::isatty(descriptor) != 1) return 0;
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualColumns;
  return size.ws_col;
}

bool is_utf8_locale() {
  for (const auto* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    const auto name = lower(value);
    return name.find("utf-8") != std::string::npos || name.find("utf8") != std::string::npos;
  }
  return false;
}

std::string bar(double done, std::size_t characters, bool blocks) {
  const auto most = static_cast<double>(characters);
  const auto full = static_cast<std::size_t>(std::lround(std::clamp(done, 0.0, 1.0) * most));
  std::string text;
  for (std::size_t i = 0; i < characters; ++i)
    text += blocks ? (i < full ? "\u2588" : "\u2591") : (i < full ? "#" : "-");
  return text;
}

std::string fitted(const std::vector<StatusField>& fields, std::size_t columns) {
  int most = 0;
  for (const auto& field : fields) most = std::max(most, field.drop);
  while (most > 0 && display_width(joined(fields, most)) > columns) --most;
  return one_line(joined(fields, most), columns);
}

std::string broken_at_blanks(std::string_view text, std::size_t columns) {
  if (columns == 0) return std::string(text);
  std::vector<std::string> lines;
  for (const auto& line : split(text, '\n')) {
    const auto words = split(line, ' ');
    lines.push_back(words[0]);
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto longer = lines.back() + ' ' + words[i];
      if (display_width(longer) <= columns || trim(lines.back()).empty())
        lines.back() = longer;
      else
        lines.push_back(words[i]);
    }
  }
  return join(lines, "\n");
}

std::vector<std::string> in_lines(const std::vector<std::string>& fields, std::size_t columns) {
  std::vector<std::string> lines;
  for (const auto& field : fields) {
    if (!lines.empty()) {
      const auto longer = lines.back() + "  " + field;
      if (columns == 0 || display_width(longer) < columns) {
        lines.back() = longer;
        continue;
      }
    }
    lines.push_back(lines.empty() ? field : "  " + field);
  }
  return lines;
}

}  // namespace ddptrain
