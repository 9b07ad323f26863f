// Files that are cut while they are mapped: without a guard the first access beyond their new end
// kills the process with SIGBUS.
#pragma once

#include <cstddef>
#include <string>

namespace ddptrain {

/// Guards a mapping while it lives: an access to what is no longer there reads zeros, and
/// check_mapped_files() fails from then on.
class MappingGuard {
 public:
  MappingGuard(const void* data, std::size_t size, const std::string& path);
  ~MappingGuard();
  MappingGuard(MappingGuard&& other) noexcept;
  MappingGuard& operator=(MappingGuard&&) = delete;

 private:
  std::size_t number_;
};

/// Why what was read from mapped files cannot be trusted any more; empty: it can.
std::string lost_mapped_file();

/// Throws an Error (Exit::data) that names the file where one was truncated. To be called before
/// what was read is used, and where reading failed for a reason that zeros in the file may explain.
void check_mapped_files();

}  // namespace ddptrain
