#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

enum class Ink { plain, faint, mark };
struct InkedText {
  std::string text;
  Ink ink = Ink::plain;
  bool operator==(const InkedText&) const = default;
};

/// Texts on stdout, one after the other, as print_lines() has them; with their ink where stdout has
/// colors.
void print_inked(const std::vector<InkedText>& texts);

/// Lines as print_lines() has them, of which those that begin a problem, "a.yaml:1:2: error[rule]:
/// ...", have its severity in color where stderr has colors.
void print_problems(std::string_view text, std::FILE* to);

namespace log {

/// Whether what goes to stderr has colors: as --color says (log::use_color), else on a terminal
/// unless NO_COLOR is set.
bool is_colored();
/// The same of stdout.
bool is_stdout_colored();

}  // namespace log
}  // namespace ddptrain
