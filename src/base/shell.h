// Words of a command line as a POSIX shell reads them back.
#pragma once

#include <string>
#include <vector>

namespace ddptrain {

/// The word itself, in single quotes where it holds anything that a shell may take for more.
std::string shell_word(const std::string& word);
std::string shell_line(const std::vector<std::string>& words);

/// How this program was called, for commands that a message suggests: "build/ddptrain".
std::string called_as();

}  // namespace ddptrain
