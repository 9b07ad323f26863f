// What an editor shows of an option or component where the mouse rests.
#pragma once

#include <string>

#include "config/catalog.h"
#include "config/shape.h"

namespace ddptrain {

/// The sentence, then type, range, unit, and the default, which is empty where there is none:
/// "Peak learning rate.\n\nnumber, at least 0; default `0.1`".
std::string option_markdown(const Shape& shape, const std::string& initial);

/// The command that tells more.
std::string component_link(const std::string& kind, const EntryBase& entry);

}  // namespace ddptrain
