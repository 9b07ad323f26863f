// Who uses a file that others may remove.
#pragma once

#include <string>

namespace ddptrain {

/// Says so, as long as it lives, to everybody who asks remove_unused(), and makes now the file's
/// time of change. A file that is not there, or on a file system that knows no locks, is in
/// nobody's use.
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
