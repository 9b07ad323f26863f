// Tables for people: aligned columns, and names that neither break a line nor steer a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

/// Columns that UTF-8 text takes on a terminal: two for the wide characters of East Asia and
/// emoji, none for combining marks (Unicode TR 11, the common blocks).
std::size_t display_width(std::string_view text);

/// shown() (base/text.h) in at most `most` columns: what is too long is cut, with "..." in its
/// place. The cut is never within a number, of which the rest would be another one.
std::string one_line(std::string_view text, std::size_t most);

enum class Flush { right, left };

/// A line for each row: the first column at the left edge, the others flush right as numbers are,
/// or flush left as words are, two blanks between them.
std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows,
                                 Flush flush = Flush::right);

/// A table of a header and rows in lines of at most `columns` (0: any width): aligned() where that
/// fits, else a block for each row, with a line for each cell under the name of its column. A
/// number is whole on one line, whatever the width.
std::vector<std::string> table_lines(const std::vector<std::vector<std::string>>& rows,
                                     std::size_t columns);

/// Whether all lines fit; 0 columns: any do.
bool all_fit(const std::vector<std::string>& lines, std::size_t columns);

/// "0.98765", "1.2e-05", "430987", "1.2346e+09", "-" for NaN: what a person compares.
std::string short_number(double value);

}  // namespace ddptrain
