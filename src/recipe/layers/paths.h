// Paths are relative to the file that wrote them.
#pragma once

#include "config/shape.h"

namespace ddptrain {

/// Makes every relative path of a checked tree absolute; values from the command line are relative
/// to the current folder.
void make_paths_absolute(Node& tree, const Shape& shape, const Catalogs& catalogs);

}  // namespace ddptrain
