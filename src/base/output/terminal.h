// What a terminal can show.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

/// Columns of the terminal behind a file descriptor, as wide as it is now; 0 where there is none.
std::size_t terminal_columns(int descriptor);

/// Does the locale of the environment (LC_ALL, else LC_CTYPE, else LANG) write UTF-8?
bool is_utf8_locale();

/// How much is done, 0 .. 1, in that many characters: blocks, or within the ASCII characters "#"
/// and
/// "-".
std::string bar(double done, std::size_t characters, bool blocks);

/// A piece of a line that may be left out where the line does not fit.
struct StatusField {
  std::string text;
  int drop = 0;  // larger ones are left out first; 0 never
};

/// The fields with two blanks between them, those that fit into `columns`; what still does not fit
/// is cut.
std::string fitted(const std::vector<StatusField>& fields, std::size_t columns);

/// The same in as many lines as they need, all but the first indented; a field is never cut.
/// `columns` 0: one line.
std::vector<std::string> in_lines(const std::vector<std::string>& fields, std::size_t columns);

/// Each line of a text in pieces of at most `columns`, broken at blanks where it has some; 0: the
/// text as it is.
std::string broken_at_blanks(std::string_view text, std::size_t columns);

namespace log {

/// From now on there is no status line, as `-q` asks.
void hide_status();

/// A write to stderr failed because its reader is gone (`| head`). From then on only the log file
/// gets lines. SIGPIPE must be ignored to live until here.
bool terminal_is_gone();

}  // namespace log

}  // namespace ddptrain
