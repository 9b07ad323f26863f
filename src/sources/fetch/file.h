// One published file, fetched or copied from this machine, and checked.
#pragma once

#include <optional>
#include <string>

namespace ddptrain {

/// Where a file comes from: an https address, or a file on this machine; and what its sha256 is, or
/// how it begins (eight digits at least).
struct FileSource {
  std::string url;
  std::optional<std::string> file{};
  std::string sha256;
};

/// Makes sure that `path` is there: if it is missing, the file is fetched (url) or copied (file),
/// its digest compared, and put there whole or not at all, FILE.sha256 with its whole digest next
/// to it, as sha256sum writes and checks it. Processes that want the same file wait for the one
/// that fetches it. Returns whether it was missing. Errors: Exit::data.
bool provide_file(const FileSource& source, const std::string& path);

/// Whether a digest is the one that is known, or begins so.
bool is_digest(const std::string& digest, std::string_view known);

}  // namespace ddptrain
