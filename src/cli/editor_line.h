#pragma once

#include <string>

#include "config/catalog.h"

namespace ddptrain {

/// "# yaml-language-server: $schema=...", which lets an editor complete and check a recipe: the
/// schema next to the program or in its source tree, else one that is written to the user's cache;
/// empty where that cannot be written.
std::string editor_line(const Catalogs& catalogs);

}  // namespace ddptrain
