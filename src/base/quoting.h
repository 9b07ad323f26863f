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

/// Who reads a CSV file: a program takes cells as they are; a spreadsheet runs text that begins
/// like a formula.
enum class CsvReader { program, spreadsheet };

/// In quotes where it holds a comma, a quote or an end of line. For a spreadsheet, text that begins
/// with =, +, -, @ (of any width), a tabulator or an end of line and is no number gets a ' in front
/// (OWASP, "CSV Injection").
std::string csv_cell(const std::string& text, CsvReader reader = CsvReader::program);
/// Reads back as the same number; an empty cell for NaN.
std::string csv_cell(double number);

}  // namespace ddptrain
