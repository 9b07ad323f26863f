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

/// The same, but an Error (Exit::data) where the file cannot be removed and is not in use. One that
/// is missing was removed.
bool removed_unless_in_use(const std::string& path);

/// Removes the file of a FileLock that nothing holds; false where it is held. Waiting processes
/// lock a new file.
bool remove_free_lock(const std::string& path);

}  // namespace ddptrain
