// A log file that several processes of a machine write.
#pragma once

#include <string>

#include "base/output/log.h"

namespace ddptrain::log {

/// As open(), where other ranks write to the file too: each line begins with its rank.
void open_shared(Level level, int rank, const std::string& file);

}  // namespace ddptrain::log
