// Where other people's data lie: files and folders by their paths, whatever holds them.
//
//   DataContext::file_system            the run chooses it; datasets and readers borrow it
//     -> list, info                     which files there are: ImageScan, class_folders,
//     text_folder
//     -> map, read                      what is in them: Csv, ParquetSource, JSON lines, IDX,
//     images
//     -> rows and bytes in memory       from there on nothing knows where they come from
//
// Run folders, checkpoints and caches are our own files: they lie on disks, and base/files writes
// and reads them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "sources/files/mapped_file.h"

namespace ddptrain {

enum class FileKind { none, file, folder, other };

struct FileInfo {
  FileKind kind = FileKind::none;
  std::uint64_t size = 0;    // bytes of a file
  std::int64_t changed = 0;  // another number after each change of the file
  std::string why = {};      // why it cannot be read as a file; empty: it can
};

struct FileEntry {
  std::string path;  // begins with the folder's, as it was given
  FileKind kind = FileKind::none;
  bool is_link = false;  // `kind` is that of what it leads to
};

using VisitEntry = std::function<void(const FileEntry&)>;

/// Paths are text with '/' between names. Any thread may call any function at any time. Errors
/// (Exit::data) name the file.
class FileSystem {
 public:
  virtual ~FileSystem() = default;
  /// What is at a path now; links are followed.
  virtual FileInfo info(const std::string& path) const = 0;
  /// The entries of a folder, in any order, without those of folders in it. Returns why it cannot
  /// be read; empty: it was.
  virtual std::string list(const std::string& folder, const VisitEntry& visit) const = 0;
  /// Those whose names begin with `begin`, which a store lists without the others.
  virtual std::string list_beginning(const std::string& folder, const std::string& begin,
                                     const VisitEntry& visit) const;
  /// At most `most` bytes from `offset` on: fewer where the file ends.
  virtual std::string read(const std::string& path, std::uint64_t offset,
                           std::uint64_t most) const = 0;
  /// The whole file, inflated if it is compressed (sources/files/mapped_file.h).
  virtual MappedFile map(const std::string& path) const = 0;
  /// Files of which parts are about to be read, in that order: one that is far away is fetched
  /// ahead. A file is listed again at each of its reads. Each call with the same `reader` replaces
  /// the one before.
  virtual void announce(int /*reader*/, const std::vector<std::string>& /*files*/,
                        std::span<const std::int32_t> /*reads*/) const {}
};

/// This machine's file system.
const FileSystem& local_files();

bool is_folder(const FileSystem& files, const std::string& path);

/// The whole file. Throws an Error (Exit::data) where it has more than `most` bytes.
std::string read_text(const FileSystem& files, const std::string& path,
                      std::size_t most = kLongestText);

/// Every entry below a folder, but for those of linked folders; `visit` returns whether those of a
/// folder are visited. Throws an Error (Exit::data) that names `folder` where it or one below it
/// cannot be read.
void walk(const FileSystem& files, const std::string& folder,
          const std::function<bool(const FileEntry&)>& visit);

/// SHA-256 of the bytes of a file as they are.
std::string digest_of(const FileSystem& files, const std::string& path);

}  // namespace ddptrain
