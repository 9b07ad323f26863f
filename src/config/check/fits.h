// Whether a value could be of a shape, for guesses at what was meant.
#pragma once

#include "config/shape.h"

namespace ddptrain {

bool fits(const Node& value, const Shape& shape, const Catalogs& catalogs);

}  // namespace ddptrain
