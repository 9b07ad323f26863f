// Results on stdout. Whatever a verb prints goes through here (tests/architecture), so that foreign
// text in it cannot steer a terminal or CI: base/text.h, shown().
#pragma once

#include <cstdio>
#include <string_view>

namespace ddptrain {

/// As printf, but text that is put in at %s is shown(): its line breaks are "\n". Conversions of
/// text, characters, and numbers as int, long, size_t or double.
__attribute__((format(printf, 1, 2))) void print_shown(const char* format, ...);

/// Lines that we laid out: tables, help, problems, recipes.
void print_lines(std::string_view text, std::FILE* to = stdout);

/// For programs: bytes as they are; the caller quotes foreign text (CSV, JSON).
void print_exact(std::string_view bytes);

}  // namespace ddptrain
