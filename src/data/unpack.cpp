#include "data/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/log.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

class Unpacking {
 public:
  Unpacking(const std::string& archive, const std::string& folder)
      : name_(archive), folder_(folder), reader_(archive_read_new(), archive_read_free) {
    auto* a = reader_.get();
    archive_read_support_filter_gzip(a);
    archive_read_support_filter_bzip2(a);
    archive_read_support_filter_xz(a);
    archive_read_support_filter_zstd(a);
    archive_read_support_format_tar(a);
    archive_read_support_format_zip(a);
    if (archive_read_open_filename(a, archive.c_str(), 1 << 20) != ARCHIVE_OK) fail_reading();
    size_ = static_cast<double>(fs::file_size(archive));
  }

  void run() {
    archive_entry* entry = nullptr;
    while (true) {
      const int result = archive_read_next_header(reader_.get(), &entry);
      if (result == ARCHIVE_EOF) break;
      if (result < ARCHIVE_WARN) fail_reading();
      put(entry);
      show_progress();
    }
    log::status("");
  }

 private:
  void put(archive_entry* entry) {
    const auto path =
        safe_path(text(archive_entry_pathname_utf8(entry), archive_entry_pathname(entry)));
    if (path.empty()) return;  // the folder itself
    fs::create_directories((folder_ / path).parent_path());
    if (const char* target = archive_entry_hardlink(entry)) return put_hard_link(path, target);
    switch (archive_entry_filetype(entry)) {
      case AE_IFDIR:
        fs::create_directories(folder_ / path);
        return;
      case AE_IFREG:
        return put_file(path);
      case AE_IFLNK:
        return put_link(path,
                        text(archive_entry_symlink_utf8(entry), archive_entry_symlink(entry)));
      default:
        refuse(path.string(), "is neither a file nor a folder nor a link");
    }
  }

  void put_file(const fs::path& path) {
    const auto full = (folder_ / path).string();
    const int file =
        ::open(full.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file < 0) fail_writing(full);
    const int result = archive_read_data_into_fd(reader_.get(), file);
    const int reason = errno;
    if (::close(file) != 0) fail_writing(full);
    if (result == ARCHIVE_OK) return;
    errno = reason;
    if (errno == ENOSPC || errno == EDQUOT || errno == EIO) fail_writing(full);
    fail_reading();
  }

  // Only leading `..` and not above the folder: what follows cannot climb through another link.
  void put_link(const fs::path& path, const std::string& target) {
    const fs::path to = target;
    auto place = path.parent_path();
    bool leading = true;
    for (const auto& part : to) {
      leading = leading && part == "..";
      if (part == ".." && (!leading || place.empty()))
        refuse(path.string(), "is a link that leaves the folder");
      if (leading) place = place.parent_path();
    }
    if (target.empty() || to.is_absolute())
      refuse(path.string(), "is a link that leaves the folder");
    fs::create_symlink(to, folder_ / path);
    links_.insert(path);
  }

  void put_hard_link(const fs::path& path, const std::string& target) {
    const auto to = safe_path(target);
    if (links_.contains(to)) refuse(path.string(), "is a link to a link");
    fs::create_hard_link(folder_ / to, folder_ / path);
  }

  /// The path of an entry within the folder.
  fs::path safe_path(const std::string& name) const {
    const fs::path path = name;
    if (name.empty() || name.find('\0') != std::string::npos) refuse(name, "has no name");
    if (path.is_absolute()) refuse(name, "has an absolute path");
    fs::path safe;
    for (const auto& part : path) {
      if (part == "..") refuse(name, "leaves the folder");
      if (part == "." || part.empty()) continue;
      if (links_.contains(safe)) refuse(name, "goes through a link");
      safe /= part;
    }
    return safe;
  }

  void show_progress() {
    const auto share = static_cast<double>(archive_filter_bytes(reader_.get(), -1)) / size_;
    const int percent = static_cast<int>(100 * share);
    if (percent == shown_) return;
    shown_ = percent;
    log::status("unpacking " + fs::path(name_).filename().string() + ": " +
                std::to_string(percent) + " %");
  }

  static std::string text(const char* first, const char* second) {
    if (first) return first;
    return second ? second : "";
  }

  [[noreturn]] void refuse(const std::string& entry, const std::string& what) const {
    throw Error(Exit::data, "archive '" + name_ + "' is refused: '" + entry + "' " + what);
  }

  [[noreturn]] void fail_reading() const {
    const char* what = archive_error_string(reader_.get());
    throw Error(Exit::data, "cannot unpack '" + name_ + "': " + (what ? what : "not an archive"));
  }

  [[noreturn]] void fail_writing(const std::string& path) const {
    throw Error(Exit::data, "cannot write '" + path + "': " + std::strerror(errno));
  }

  std::string name_;
  fs::path folder_;
  std::unique_ptr<archive, int (*)(archive*)> reader_;
  std::set<fs::path> links_;
  double size_ = 0;
  int shown_ = -1;
};

}  // namespace

void unpack(const std::string& archive, const std::string& folder) {
  try {
    Unpacking(archive, folder).run();
  } catch (const fs::filesystem_error& error) {
    throw Error(Exit::data, "cannot unpack '" + archive + "': '" + error.path1().string() +
                                "': " + error.code().message());
  }
}

}  // namespace ddptrain
