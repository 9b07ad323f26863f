// Who uses a file that others may remove.
#pragma once

#include <string>

namespace ddptrain {

/// Marks a file as used, for remove_unused() of any process, as long as it lives, and sets its
/// modification time to now. A file that is missing, or on a file system without locks, is not in
/// use.
class FileUse {
 public:
  FileUse() = default;  // of no file
  explicit FileUse(const std::string& path);
  ~FileUse();
  FileUse(FileUse&& other) noexcept;
  FileUse& operator=(FileUse&&) = delete;

 private:
  int file_ = -1;
};

/// False where some FileUse of the file lives, in this process or another, or it cannot be removed.
bool remove_unused(const std::string& path);

}  // namespace ddptrain
