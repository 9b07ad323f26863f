#include "config/problem.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <tuple>

#include "base/text.h"

namespace ddptrain {
namespace {

constexpr std::size_t kLongestLine = 400;

std::string word(Severity severity) {
  if (severity == Severity::error) return "error";
  return severity == Severity::warning ? "warning" : "note";
}

std::string place_text(const Place& place) {
  if (place.file.empty()) return "";
  std::string text = place.file + ":";
  if (place.known()) text += std::to_string(place.line) + ":";
  if (place.known() && place.column > 0) text += std::to_string(place.column) + ":";
  return text + " ";
}

/// The line as written, empty where it cannot be read or shown.
std::string source_line(const Place& place) {
  std::error_code code;
  if (!std::filesystem::is_regular_file(place.file, code)) return {};
  std::ifstream in(place.file, std::ios::binary);
  std::string line;
  for (int i = 0; i < place.line; ++i)
    if (!std::getline(in, line)) return {};
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
  if (line.size() > kLongestLine || find_invalid_utf8(line)) return {};
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return line;
}

std::string excerpt(const Place& place) {
  if (!place.known() || place.column <= 0) return {};
  const auto line = source_line(place);
  if (line.empty()) return {};
  auto number = std::to_string(place.line);
  if (number.size() < 5) number.insert(0, 5 - number.size(), ' ');
  const auto room = static_cast<int>(count_characters(line)) - place.column + 1;
  const int width = std::clamp(place.width, 1, std::max(room, 1));
  return number + " | " + line + "\n" + std::string(number.size(), ' ') + " | " +
         std::string(static_cast<std::size_t>(place.column - 1), ' ') + "^" +
         std::string(static_cast<std::size_t>(width - 1), '~') + "\n";
}

std::string closing(const Problems& problems) {
  const auto count = [&](Severity severity) {
    return std::count_if(problems.begin(), problems.end(),
                         [&](const Problem& p) { return p.severity == severity; });
  };
  const auto errors = count(Severity::error), warnings = count(Severity::warning);
  std::vector<std::string> parts;
  if (errors > 0) parts.push_back(plural(errors, "error"));
  if (warnings > 0) parts.push_back(plural(warnings, "warning"));
  if (parts.empty()) return {};
  return join(parts, ", ") + (errors > 0 ? "; nothing was started\n" : "\n");
}

}  // namespace

bool has_errors(const Problems& problems) {
  return std::any_of(problems.begin(), problems.end(),
                     [](const Problem& p) { return p.severity == Severity::error; });
}

std::string render(const Problem& problem) {
  const auto path = problem.path.empty() ? "" : problem.path + ": ";
  return place_text(problem.place) + word(problem.severity) + "[" + problem.rule + "]: " + path +
         problem.message + "\n" + excerpt(problem.place);
}

std::string render(const Problems& problems) {
  auto sorted = problems;
  // Files stay in the order in which they were first met; within one, by place.
  std::vector<std::string> files;
  for (const auto& problem : sorted)
    if (std::find(files.begin(), files.end(), problem.place.file) == files.end())
      files.push_back(problem.place.file);
  const auto key = [&](const Problem& p) {
    return std::tuple(std::find(files.begin(), files.end(), p.place.file), p.place.line,
                      p.place.column);
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Problem& a, const Problem& b) { return key(a) < key(b); });
  std::string text;
  for (const auto& problem : sorted) text += render(problem);
  return text + closing(problems);
}

}  // namespace ddptrain
