#include <fmt/format.h>

#include <string_view>

#include "base/text.h"
#include "config/formats/percent.h"
#include "config/formats/problem_formats.h"

namespace ddptrain {
namespace {

std::string without(const std::string& text, std::string_view characters) {
  return percent_encoded(text,
                         [&](char c) { return characters.find(c) == std::string_view::npos; });
}

// The two escapes of @actions/core, packages/core/src/command.ts.
std::string as_data(const std::string& text) { return without(text, "%\r\n"); }
std::string as_property(const std::string& text) { return without(text, "%\r\n:,"); }

std::string command(Severity severity) {
  return severity == Severity::note ? "notice" : to_text(severity);
}

std::string properties(const Problem& problem) {
  const auto& place = problem.place;
  std::string text;
  if (in_file(place)) {
    text += fmt::format("file={},line={},col={},endColumn={},", as_property(shown(place.file)),
                        place.line, place.column, place.column + place.width);
  }
  return text + "title=" + as_property(problem.rule);
}

}  // namespace

std::string render_github(const Problems& problems) {
  std::string text;
  for (const auto& problem : sorted(problems)) {
    auto message = shown(full_message(problem));
    if (!in_file(problem.place) && !problem.place.file.empty())
      message = shown(to_text(problem.place)) + ": " + message;
    for (const auto& from : problem.extended_from)
      message += "\nextended from " + shown(to_text(from));
    text += "::" + command(problem.severity) + " " + properties(problem) + "::" + as_data(message);
    text += "\n";
  }
  return text;
}

}  // namespace ddptrain
