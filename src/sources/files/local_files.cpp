#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "sources/files/file_system.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

FileKind file_kind(mode_t mode) {
  if (S_ISREG(mode)) return FileKind::file;
  return S_ISDIR(mode) ? FileKind::folder : FileKind::other;
}

/// Most file systems list kinds, so that only links are looked at (`status` would look at each).
FileEntry entry_of(const fs::directory_entry& at) {
  std::error_code unknown;
  FileEntry entry{at.path().string(), FileKind::other, at.is_symlink(unknown)};
  if (at.is_regular_file(unknown)) entry.kind = FileKind::file;
  if (at.is_directory(unknown)) entry.kind = FileKind::folder;
  return entry;
}

std::int64_t change_of(const struct stat& about) {
  using namespace std::chrono;
  const sys_time<nanoseconds> when(seconds(about.st_mtim.tv_sec) +
                                   nanoseconds(about.st_mtim.tv_nsec));
  return file_clock::from_sys(when).time_since_epoch().count();
}

class LocalFiles final : public FileSystem {
 public:
  FileInfo info(const std::string& path) const override {
    FileInfo info;
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0) {
      info.why = std::strerror(errno);
      return info;
    }
    info.kind = file_kind(about.st_mode);
    if (info.kind != FileKind::file) {
      info.why = std::strerror(info.kind == FileKind::folder ? EISDIR : ENOTSUP);
      return info;
    }
    info.size = static_cast<std::uint64_t>(about.st_size);
    info.changed = change_of(about);
    return info;
  }

  std::string list(const std::string& folder, const VisitEntry& visit) const override {
    std::error_code error;
    fs::directory_iterator at(folder, error);
    for (; at != fs::directory_iterator(); at.increment(error)) visit(entry_of(*at));
    return error ? error.message() : "";
  }

  std::string read(const std::string& path, std::uint64_t offset,
                   std::uint64_t most) const override {
    if (offset == 0) return read_beginning(path, most);
    const InputFile file(path);
    const auto left = file.size() - std::min(offset, file.size());
    std::string bytes(std::min(left, most), '\0');
    file.read(bytes.data(), bytes.size(), offset);
    return bytes;
  }

  MappedFile map(const std::string& path) const override { return MappedFile(path); }
};

}  // namespace

const FileSystem& local_files() {
  static const LocalFiles files;
  return files;
}

}  // namespace ddptrain
