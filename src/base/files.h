// Files and folders, with errors that name them.
#pragma once

#include <string>
#include <string_view>

namespace ddptrain {

/// The whole file, or its first bytes where there are more than `most`: a device may never end.
/// Throws an Error (Exit::data) that names it and says why not.
std::string read_text(const std::string& path, std::size_t most = std::string::npos);

/// Whole or not at all, and on disk when it returns: temporary file beside it, fsync, rename, fsync
/// of the folder. Throws an Error (Exit::data).
void write_atomically(const std::string& path, std::string_view content);

/// The folder and those above it. Throws an Error (Exit::data).
void make_folders(const std::string& path);

/// Could a file be made in this folder, or in the nearest existing one above it?
bool is_writable(const std::string& folder);

/// Flushes a folder's entries to disk after renames in it.
void sync_folder(const std::string& folder);

/// Held while the object lives; other processes wait for it. The file stays.
class FileLock {
 public:
  enum class Wait { until_free, not_at_all };
  explicit FileLock(const std::string& path, Wait wait = Wait::until_free);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  /// False only where it was not to wait and somebody else holds it.
  bool held() const { return held_; }

 private:
  int file_ = -1;
  bool held_ = false;
};

}  // namespace ddptrain
