// Where the program talks: results go to stdout by the verbs themselves, everything else through
// here. spdlog stands behind it in log.cpp; this header names neither spdlog nor fmt, so torch
// files may include it.
#pragma once

#include <string>

namespace ddptrain::log {

enum class Level { quiet, normal, verbose };

/// To be called once in each process. A rank above 0 is silent on the terminal; `file` (may be
/// empty) receives every line of this process.
void open(Level level, int rank, const std::string& file);

void debug(const std::string& line);    // shown with -v
void info(const std::string& line);     // shown unless -q
void warning(const std::string& line);  // "warning: ..."
void error(const std::string& line);    // "error: ..." in the GCC form when the line brings a place

/// Rewrites one line on a terminal (the status line); a no-op elsewhere. An empty text ends it.
void status(const std::string& text);
bool is_terminal();

}  // namespace ddptrain::log
