#include "config/problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/files/files.h"
#include "base/secrets.h"
#include "base/text.h"

namespace ddptrain {
namespace {

constexpr std::size_t kLongestFile = 2 << 20;  // bytes, twice what a recipe may have
constexpr std::size_t kLongestLine = 400;

std::string before_message(const Place& place) {
  return place.file.empty() ? "" : shown(to_text(place)) + ": ";
}

/// The lines of files as written; each file is read once.
class Sources {
 public:
  /// Empty where the line cannot be read or shown.
  std::string line(const Problem& problem) {
    if (problem.line) return visible(*problem.line);
    const auto& place = problem.place;
    const auto [at, fresh] = files_.try_emplace(place.file);
    if (fresh) at->second = read(place.file);
    const auto number = static_cast<std::size_t>(place.line);
    return number > 0 && number <= at->second.size() ? visible(at->second[number - 1]) : "";
  }

 private:
  static std::vector<std::string> read(const std::string& file) {
    try {
      return split(read_beginning(file, kLongestFile), '\n');
    } catch (const Error&) {  // the problem itself says what is wrong with it
      return {};
    }
  }

  static std::string visible(std::string line) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.size() > kLongestLine || find_invalid_utf8(line)) return {};
    for (char& c : line)
      if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    return without_passwords(line);
  }

  std::map<std::string, std::vector<std::string>> files_;
};

std::string excerpt(const Problem& problem, Sources& sources) {
  const auto& place = problem.place;
  if (!in_file(place)) return {};
  const auto line = sources.line(problem);
  if (line.empty()) return {};
  auto number = std::to_string(place.line);
  if (number.size() < 5) number.insert(0, 5 - number.size(), ' ');
  const auto room = static_cast<int>(count_characters(line)) - place.column + 1;
  const int width = std::clamp(place.width, 1, std::max(room, 1));
  return fmt::format("{} | {}\n{} | {}^{}\n", number, line, std::string(number.size(), ' '),
                     std::string(static_cast<std::size_t>(place.column - 1), ' '),
                     std::string(static_cast<std::size_t>(width - 1), '~'));
}

std::string finding(const Problem& problem, Sources& sources) {
  return fmt::format("{}{}[{}]: {}\n{}", before_message(problem.place), to_text(problem.severity),
                     problem.rule, shown(full_message(problem)), excerpt(problem, sources));
}

std::string chain(const Problem& problem) {
  std::string text;
  for (const auto& place : problem.extended_from)
    text += before_message(place) + "note: extended from here\n";
  return text;
}

auto identity(const Problem& p) {
  return std::tie(p.place.file, p.place.line, p.place.column, p.severity, p.rule, p.path,
                  p.message);
}

}  // namespace

bool has_errors(const Problems& problems) {
  return std::any_of(problems.begin(), problems.end(),
                     [](const Problem& p) { return p.severity == Severity::error; });
}

std::string to_text(Severity severity) {
  if (severity == Severity::error) return "error";
  return severity == Severity::warning ? "warning" : "note";
}

std::string to_text(const Place& place) {
  auto text = place.file;
  if (place.known()) text += fmt::format(":{}", place.line);
  if (in_file(place)) text += fmt::format(":{}", place.column);
  return text;
}

bool in_file(const Place& place) { return place.known() && place.column > 0; }

std::string full_message(const Problem& problem) {
  return problem.path.empty() ? problem.message : problem.path + ": " + problem.message;
}

Problems sorted(const Problems& problems) {
  std::map<std::string, std::size_t> files;
  for (const auto& problem : problems) files.emplace(problem.place.file, files.size());
  const auto key = [&](const Problem& p) {
    return std::tuple(files.at(p.place.file), p.place.line, p.place.column);
  };
  auto all = problems;
  std::stable_sort(all.begin(), all.end(),
                   [&](const Problem& a, const Problem& b) { return key(a) < key(b); });
  // A file that several recipes extend is read for each of them.
  std::set<decltype(identity(all[0]))> seen;
  Problems once;
  for (const auto& problem : all)
    if (seen.insert(identity(problem)).second) once.push_back(problem);
  return once;
}

std::string count_text(const Problems& problems) {
  const auto count = [&](Severity severity) {
    return std::count_if(problems.begin(), problems.end(),
                         [&](const Problem& p) { return p.severity == severity; });
  };
  const auto errors = count(Severity::error), warnings = count(Severity::warning);
  std::vector<std::string> parts;
  if (errors > 0) parts.push_back(plural(errors, "error"));
  if (warnings > 0) parts.push_back(plural(warnings, "warning"));
  return join(parts, ", ") + (errors > 0 ? "; nothing was started" : "");
}

std::string render(const Problem& problem) {
  Sources sources;
  return finding(problem, sources) + chain(problem);
}

std::string render(const Problems& problems) {
  Sources sources;
  const auto all = sorted(problems);
  std::string text, file;
  for (const auto& problem : all) {
    text += finding(problem, sources);
    if (problem.place.file != file) text += chain(problem);
    file = problem.place.file;
  }
  const auto count = count_text(all);
  return count.empty() ? text : text + count + "\n";
}

}  // namespace ddptrain
