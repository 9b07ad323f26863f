// Files and folders, with errors that name them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ddptrain {

/// A regular file, open for reading: every input is opened here. What may never end, or waits for
/// a writer (pipes, devices, sockets, folders, links to them), is refused at once.
class InputFile {
 public:
  /// Throws an Error (Exit::data) that names the file and the reason, as the other members do.
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;

  const std::string& path() const { return path_; }
  int descriptor() const { return file_; }
  std::uint64_t size() const { return size_; }  // 0 for what the kernel makes up, like /proc/stat
  /// Exactly `count` bytes from `offset` on.
  void read(char* to, std::uint64_t count, std::uint64_t offset) const;
  /// At most `count` of the next bytes; 0 at the end.
  std::size_t read_next(char* to, std::size_t count);

 private:
  std::string path_;
  int file_;
  std::uint64_t size_ = 0;
};

/// What a text, an image or a table of names may have; larger files are mapped or read in pieces.
constexpr std::size_t kLongestText = std::size_t{256} << 20;

/// The whole file. Throws an Error (Exit::data) that names it and says why not: also where it has
/// more than `most` bytes.
std::string read_text(const std::string& path, std::size_t most = kLongestText);

/// The whole file, or its first bytes where there are more than `most`.
std::string read_beginning(const std::string& path, std::size_t most);

/// The same of what a person named on the command line, which may be a pipe: it is waited for, and
/// a signal ends that.
std::string read_given(const std::string& path, std::size_t most);

/// Whole or not at all, and on disk when it returns: temporary file next to it, fsync, rename,
/// fsync of the folder. Throws an Error (Exit::data).
void write_atomically(const std::string& path, std::string_view content);

/// The folder and those above it. Throws an Error (Exit::data).
void make_folders(const std::string& path);

/// Could a file be made in this folder, or in the nearest existing one above it?
bool is_writable(const std::string& folder);

/// Flushes a folder's entries to disk after renames in it.
void sync_folder(const std::string& folder);

/// Flushes all that was written to the disk that a folder is on.
void sync_disk(const std::string& folder);

/// Held while the object lives; other processes wait for it. The file stays.
class FileLock {
 public:
  enum class Wait { until_free, not_at_all };
  explicit FileLock(const std::string& path, Wait wait = Wait::until_free);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  /// False only where it was not to wait and another holder has it.
  bool held() const { return held_; }

  /// Whether the lock of this path is held now. Makes no file and blocks no other process.
  static bool is_taken(const std::string& path);

 private:
  int file_ = -1;
  bool held_ = false;
};

/// The folder itself, or the nearest above it that is there.
std::string existing_folder(const std::string& folder);

/// Room on a disk.
struct FreeSpace {
  std::string folder;      // existing_folder of the one that was asked for
  std::int64_t bytes = 0;  // that we may write there
  std::string unknown;     // why it is unknown; empty: it is known
};
FreeSpace free_space(const std::string& folder);

}  // namespace ddptrain
