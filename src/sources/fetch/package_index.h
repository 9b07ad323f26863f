// Files of Python packages that are pinned by their digests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ddptrain {

struct PinnedWheel {
  std::string package, version, sha256;
};

/// What pip's requirements pin, one a line: "nvidia-nvtx==13.0.85 --hash=sha256:...". Lines of
/// another form are comments.
std::vector<PinnedWheel> pinned_wheels(std::string_view requirements);

/// The address that a page of a package index has for the file of this digest; empty where it has
/// none. `page` is HTML of the simple repository API (PEP 503), and `address` its own, which links
/// may be relative to.
std::string link_with_digest(std::string_view page, const std::string& address,
                             const std::string& sha256);

}  // namespace ddptrain
