// What `help error` prints of the kinds of problem.
#pragma once

#include <string>

namespace ddptrain {

/// Every id with its sentence.
std::string error_list();

/// One kind: its sentence, why, a wrong and a right example. An unknown id is an Error
/// (Exit::recipe) with what was meant.
std::string error_text(const std::string& id);

/// All kinds as docs/problems.md has them.
std::string error_page();

}  // namespace ddptrain
