// What is wrong with a recipe, reported as a compiler does: all of it at once, each with place,
// rule and reason.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ddptrain {

enum class Severity { error, warning, note };

/// One finding. `rule` is a stable id such as "unknown-key"; `path` is the dotted option
/// ("optimizer.lr"), may be empty; `message` is lower case, without a full stop, values in quotes.
struct Problem {
  Severity severity = Severity::error;
  std::string rule;
  Place place;
  std::string path;
  std::string message;
  /// What to write in place of the characters at `place`, where one word fixes it; may be empty.
  std::string suggestion = {};
  /// Where the file of `place` is named in another's `extends`, that file in a third's, and so on;
  /// empty for a file that a person named.
  std::vector<Place> extended_from = {};
  /// The line of `place` as it was read; none: the file is read for it, which a pipe cannot be.
  std::optional<std::string> line = {};
};

using Problems = std::vector<Problem>;

/// More are of no use to a reader, and a hostile recipe could keep us busy.
inline constexpr std::size_t kMostProblems = 200;

bool has_errors(const Problems& problems);

/// "error", "warning" or "note".
std::string to_text(Severity severity);

/// "file:line:column", as much of it as is known.
std::string to_text(const Place& place);

/// Whether a place is characters of a file, not a word of the command line.
bool in_file(const Place& place);

/// "path: message".
std::string full_message(const Problem& problem);

/// In order of file (as first met), line and column; what is reported twice comes once.
Problems sorted(const Problems& problems);

/// "2 errors, 1 warning; nothing was started", empty where there is neither.
std::string count_text(const Problems& problems);

/// `file:line:column: error[rule]: path: message`, the source line and a caret where the file can
/// be read, and `file:line:column: note: extended from here` for each file that led to this one.
std::string render(const Problem& problem);

/// All problems, sorted, and a closing count. The first problem of a file shows how it was reached.
std::string render(const Problems& problems);

/// What `ddptrain help error ID` prints of a kind of problem; tests verify it. `id` is stable
/// ("unknown-key"); `summary` is one sentence with a full stop; `why` says in a few what would
/// happen otherwise; `wrong` is the least YAML that shows it and `right` the same, fixed, both
/// laid over a recipe that is good by itself. Where YAML alone cannot show it (files, machines),
/// `wrong` and `right` are empty.
struct RuleDoc {
  std::string_view id;
  std::string_view summary;
  std::string_view why;
  std::string_view wrong;
  std::string_view right;
};

}  // namespace ddptrain
