// Text as other programs read it back: words of a shell, cells of a CSV file.
#pragma once

#include <string>
#include <vector>

namespace ddptrain {

/// The word itself, in single quotes where it holds anything that a shell may take for more.
std::string shell_word(const std::string& word);
std::string shell_line(const std::vector<std::string>& words);

/// How this program was called, for commands that a message suggests: "build/ddptrain".
std::string called_as();

/// In quotes where it holds a comma, a quote or an end of line.
std::string csv_cell(const std::string& text);
/// Reads back as the same number; an empty cell for NaN.
std::string csv_cell(double number);

}  // namespace ddptrain
