// Where the program talks: results go to stdout by the verbs themselves, everything else through
// here. spdlog stands behind it in log.cpp and is not named here, since LibTorch's fmt is another
// than Debian's.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"

namespace ddptrain {
struct StatusField;  // base/output/terminal.h
}

namespace ddptrain::log {

enum class Level { quiet, normal, verbose };
enum class Color { automatic, always, never };

/// To be called once in each process, again where a rank learns its file. A rank above 0 is silent
/// on the terminal but for errors; `file` (may be empty) receives every line of this process.
void open(Level level, int rank, const std::string& file);
/// Whether lines on stderr have colors; automatic: on a terminal, unless NO_COLOR is set.
void use_color(Color color);
/// Whether -v was given: for lines that would cost something to make.
bool is_verbose();

void debug(const std::string& line);                      // shown with -v
void info(const std::string& line);                       // shown unless -q
void announce(const std::string& line);                   // as info, of ranks above 0, too
void warning(const std::string& line);                    // "warning: ..."
void error(const std::string& line);                      // "error: ..."
void error(const std::string& line, const Place& place);  // "file:3:5: error: ..."

/// Into the log file alone, for what the terminal has already.
void record(const std::string& line);

/// The same with a format and its arguments; a line without is text as it is.
template <class First, class... Rest>
void debug(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
  debug(fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...));
}
template <class First, class... Rest>
void info(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
  info(fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...));
}
template <class First, class... Rest>
void warning(fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
  warning(fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...));
}
template <class First, class... Rest>
requires(!std::is_same_v<std::remove_cvref_t<First>, Place>) void error(
    fmt::format_string<First, Rest...> format, First&& first, Rest&&... rest) {
  error(fmt::format(format, std::forward<First>(first), std::forward<Rest>(rest)...));
}

/// While it lives, `tell` is called with every warning of this process, on the warning's thread,
/// one at a time. There is at most one.
class WarningListener {
 public:
  explicit WarningListener(std::function<void(const std::string&)> tell);
  ~WarningListener();
  WarningListener(const WarningListener&) = delete;
  WarningListener& operator=(const WarningListener&) = delete;
};

/// Rewrites the line at the end of a terminal, as much of it as fits, unless TERM=dumb or NO_COLOR
/// ask for plain text; a no-op elsewhere. Nothing, or an error, erases it.
void status(const std::vector<StatusField>& fields);
void status(const std::string& text);
/// Whether there is such a line.
bool has_status();
/// Is stderr a terminal?
bool is_terminal();

}  // namespace ddptrain::log
