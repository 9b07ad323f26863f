// What is wrong with a recipe, said like a compiler: all of it at once, each with place, rule and
// reason.
#pragma once

#include <string>
#include <vector>

#include "base/place.h"

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
};

using Problems = std::vector<Problem>;

bool has_errors(const Problems& problems);

/// `file:line:column: error[rule]: path: message`, the source line and a caret where the file can
/// be read.
std::string render(const Problem& problem);

/// All problems in order of file, line and column, and a closing count such as "3 errors; nothing
/// was started".
std::string render(const Problems& problems);

}  // namespace ddptrain
