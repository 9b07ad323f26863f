// Documents made from the same declarations as the checks: the man page and the recipe reference.
#pragma once

#include <string>

#include "cli/program.h"

namespace ddptrain {

/// ddptrain(1) for man.
std::string manual_text(const Program& program);

/// Markdown: every key of recipes and every component's options, with type, default and sentence.
std::string reference_text(const Catalogs& catalogs);

}  // namespace ddptrain
