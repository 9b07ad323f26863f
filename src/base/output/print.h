// Results on stdout. Whatever a verb prints goes through here (tests/architecture), so that foreign
// text in it cannot steer a terminal or CI: base/text.h, shown().
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

/// As printf, but text that is put in at %s is without secrets (base/secrets.h) and shown(): its
/// line breaks are "\n". Conversions of text, characters, and numbers as int, long, size_t or
/// double.
__attribute__((format(printf, 1, 2))) void print_shown(const char* format, ...);

/// Lines that we laid out: tables, help, problems, recipes.
void print_lines(std::string_view text, std::FILE* to = stdout);

/// table_lines() of a header and rows, as wide as the terminal.
void print_table(const std::vector<std::vector<std::string>>& rows);

/// For programs: bytes as they are (CSV, JSON), in whole lines; on a terminal as print_lines().
void print_exact(std::string_view bytes);

/// Hands what was printed to the reader of stdout. False where there is none any more (`| head`),
/// which also goes to the log file; an Error (Exit::data) where stdout cannot be written for
/// another reason (a full disk). Where SIGPIPE is not ignored, it ends the process instead.
bool flush_stdout();

/// Whether a write to stdout has failed because its reader is gone.
bool stdout_is_gone();

/// Flushes stdout at the end of a verb. What it exits with: `code`, or as SIGPIPE has it where
/// the reader of stdout is gone and no signal ended it.
int delivered(int code);

}  // namespace ddptrain
