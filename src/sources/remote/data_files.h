// The files that a `data` section reads: of this machine, and behind addresses.
#pragma once

#include <memory>

#include "recipe/data_section.h"
#include "sources/files/file_system.h"

namespace ddptrain {

/// Opens no store before the first file of an address is asked for.
std::shared_ptr<const FileSystem> data_files(const Choice<Dataset>& data);

}  // namespace ddptrain
