// Data that a recipe names by an archive: fetched, checked, unpacked, once per node.
#pragma once

#include <string>

#include "recipe/data_section.h"

namespace ddptrain {

/// What a checked data section needs is there afterwards: its source, if it names one, is provided
/// at its `root`, or where that is left out, in the folder of its `file`. Without a source, a root
/// or file that is not there is an Error (Exit::data) at its place.
void provide(const Choice<Dataset>& data);

/// Whether it is there already, or the section names no source.
bool is_provided(const Choice<Dataset>& data);

/// Makes sure that folder `root` is there. If it is missing or empty, the archive is fetched (url)
/// or taken (file), its digest compared, and its contents put there whole or not at all: unpacked
/// next to `root` and renamed. A single folder at the top of the archive becomes `root` itself.
/// Processes that want the same folder wait for the one that makes it. Errors: Exit::data.
void provide(const SourceSpec& source, const std::string& root);

}  // namespace ddptrain
