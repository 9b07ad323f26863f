#include "base/quoting.h"

#include <cmath>
#include <string_view>

#include "base/text.h"

namespace ddptrain {

std::string shell_word(const std::string& word) {
  constexpr auto plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%~";
  if (!word.empty() && word.front() != '~' && word.find_first_not_of(plain) == std::string::npos)
    return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::vector<std::string> parts;
  for (const auto& word : words) parts.push_back(shell_word(word));
  return join(parts, " ");
}

std::string called_as() { return shell_word(program_invocation_name); }

namespace {

/// U+FF0B, U+FF0D, U+FF1D and U+FF20 are the wide forms, which spreadsheets take for the others.
bool begins_formula(std::string_view text) {
  if (text.empty() || parse_number(text)) return false;
  if (std::string_view("=+-@\t\r\n").find(text[0]) != std::string_view::npos) return true;
  for (const auto* wide : {"\uff0b", "\uff0d", "\uff1d", "\uff20"})
    if (text.starts_with(wide)) return true;
  return false;
}

}  // namespace

std::string csv_cell(const std::string& text, CsvReader reader) {
  if (reader == CsvReader::spreadsheet && begins_formula(text)) return csv_cell("'" + text);
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_cell(double number) { return std::isnan(number) ? "" : format_number(number); }

}  // namespace ddptrain
