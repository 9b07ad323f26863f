// A folder for the time that something takes.
#pragma once

#include <string>

namespace ddptrain {

/// A new folder that only we can read, with a name that nobody can guess; gone with all in it when
/// this ends. An Error (Exit::data) where it cannot be made.
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
};

}  // namespace ddptrain
