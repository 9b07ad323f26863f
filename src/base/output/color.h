#pragma once

#include <cstdio>
#include <string_view>

namespace ddptrain {

/// Lines as print_lines() has them, of which those that begin a problem, "a.yaml:1:2: error[rule]:
/// ...", have its severity in color where stderr has colors.
void print_problems(std::string_view text, std::FILE* to);

namespace log {

/// Whether what goes to stderr has colors: as --color says (log::use_color), else on a terminal
/// unless NO_COLOR is set.
bool is_colored();

}  // namespace log
}  // namespace ddptrain
