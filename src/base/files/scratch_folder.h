// A folder for the time that something takes.
#pragma once

#include <memory>
#include <string>

namespace ddptrain {

class FileLock;

/// Removes the folders below the one for temporary files that killed processes of this program left
/// behind, whatever they were for. Never throws.
void remove_abandoned_folders() noexcept;

/// A new folder that only we can read, with a name that cannot be guessed; gone with all in it when
/// this ends. A process that is killed leaves its folder behind: the next one with the same start
/// and host name removes it. An Error (Exit::data) where it cannot be made.
class ScratchFolder {
 public:
  /// `start` is its path without the last letters; unless absolute, below the folder for temporary
  /// files (TMPDIR).
  explicit ScratchFolder(const std::string& start = "ddptrain-");
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::unique_ptr<FileLock> lock_;  // held while this process or a child of it needs the folder
};

}  // namespace ddptrain
