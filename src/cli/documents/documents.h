// Documents made from the same declarations as the checks: the man page, the recipe reference, and
// what `help error` prints of the kinds of problem.
#pragma once

#include <string>

#include "cli/program.h"

namespace ddptrain {

/// ddptrain(1) for man.
std::string manual_text(const Program& program);

/// Markdown: every key of recipes and every component's options, with type, default and sentence.
std::string reference_text(const Catalogs& catalogs);

/// Every id with its sentence.
std::string error_list();

/// One kind: its sentence, why, a wrong and a right example. An unknown id is an Error
/// (Exit::recipe) with what was meant.
std::string error_text(const std::string& id);

/// All kinds as docs/problems.md has them.
std::string error_page();

}  // namespace ddptrain
