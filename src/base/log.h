// Where the program talks: results go to stdout by the verbs themselves, everything else through
// here. spdlog stands behind it in log.cpp; this header names neither spdlog nor fmt, so torch
// files may include it.
#pragma once

#include <functional>
#include <string>

#include "base/place.h"

namespace ddptrain::log {

enum class Level { quiet, normal, verbose };
enum class Color { automatic, always, never };

/// To be called once in each process, again where a rank learns its file. A rank above 0 is silent
/// on the terminal but for errors; `file` (may be empty) receives every line of this process.
void open(Level level, int rank, const std::string& file);
/// Whether lines on stderr have colours; automatic: on a terminal, unless NO_COLOR is set.
void use_color(Color color);
/// Whether -v was given: for lines that would cost something to make.
bool is_verbose();

void debug(const std::string& line);                      // shown with -v
void info(const std::string& line);                       // shown unless -q
void warning(const std::string& line);                    // "warning: ..."
void error(const std::string& line);                      // "error: ..."
void error(const std::string& line, const Place& place);  // "file:3:5: error: ..."

/// While it lives, every warning of this process is told, on the thread that gives it, one at a
/// time. There is at most one.
class WarningListener {
 public:
  explicit WarningListener(std::function<void(const std::string&)> tell);
  ~WarningListener();
  WarningListener(const WarningListener&) = delete;
  WarningListener& operator=(const WarningListener&) = delete;
};

/// Rewrites one line on a terminal (the status line); a no-op elsewhere. An empty text ends it.
void status(const std::string& text);
bool is_terminal();

}  // namespace ddptrain::log
