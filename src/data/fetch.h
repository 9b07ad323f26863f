// Fetching of files. Torch-free.
#pragma once

#include <string>

namespace ddptrain {

/// Fetches a URL (https, http or file) into a file, continuing what an earlier attempt left there.
/// Runs the program `curl`, without a shell; on a terminal it shows size and progress. Throws an
/// Error (Exit::data).
void fetch(const std::string& url, const std::string& path);

}  // namespace ddptrain
