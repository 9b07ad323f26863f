// Names with braces, as shells and WebDataset have them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

/// What Python's braceexpand gives: `a-{000..002}.tar` is three names, zeros kept, `{x,y}` two, and
/// several braces all combinations, the last fastest. Without braces the text itself. Throws an
/// Error (Exit::data) where braces do not match, a range is of no numbers, or there are more than a
/// million names.
std::vector<std::string> expand_braces(std::string_view pattern);

/// Whether the text has a brace, and so is a pattern.
inline bool has_braces(std::string_view text) { return text.find('{') != text.npos; }

}  // namespace ddptrain
