#include "sources/fetch/unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/output/progress.h"
#include "base/text.h"
#include "sources/fetch/utf8_names.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

class Unpacking {
 public:
  Unpacking(const std::string& archive, const std::string& folder, const UnpackLimits& limits,
            std::function<bool(std::string_view)> wanted = {})
      : name_(archive),
        folder_(folder),
        limits_(limits),
        wanted_(std::move(wanted)),
        file_(archive),
        reader_(archive_read_new(), archive_read_free) {
    auto* a = reader_.get();
    archive_read_support_filter_gzip(a);
    archive_read_support_filter_bzip2(a);
    archive_read_support_filter_xz(a);
    archive_read_support_filter_zstd(a);
    archive_read_support_format_tar(a);
    archive_read_support_format_zip(a);
    if (archive_read_open_fd(a, file_.descriptor(), 1 << 20) != ARCHIVE_OK) fail_reading();
    size_ = static_cast<double>(file_.size());
  }

  fs::path run() {
    archive_entry* entry = nullptr;
    while (true) {
      const int result = archive_read_next_header(reader_.get(), &entry);
      if (result == ARCHIVE_EOF) break;
      if (result < ARCHIVE_WARN) fail_reading();
      check_member();
      put(entry);
      progress();
      show_progress();
    }
    log::status("");
    const auto root = contents();
    for (const auto& [path, target] : links_) make_link(path, target, root);
    return folder_ / root;
  }

 private:
  /// Bombs: by their number, and as archives in archives of the same data.
  void check_member() {
    if (++members_ > limits_.members)
      refuse_all(fmt::format("has more than {} members", limits_.members));
    if (archive_filter_count(reader_.get()) > 2) refuse_all("is packed more than once");
    check_bytes(0);
  }

  void check_bytes(std::int64_t more) const {
    const auto unpacked = archive_filter_bytes(reader_.get(), 0);
    if (std::max(bytes_ + more, unpacked) > limits_.bytes + header_bytes * members_)
      refuse_all("becomes larger than " + format_bytes(limits_.bytes));
  }

  void put(archive_entry* entry) {
    const auto path =
        safe_path(text(archive_entry_pathname(entry), archive_entry_pathname_utf8(entry)));
    if (path.empty() || (wanted_ && !wanted_(path.native()))) return;  // empty: the folder itself
    if (links_.contains(path)) refuse(path.string(), "is there twice, once as a link");
    fs::create_directories((folder_ / path).parent_path());
    if (const char* target = archive_entry_hardlink(entry)) return put_hard_link(path, target);
    switch (archive_entry_filetype(entry)) {
      case AE_IFDIR:
        fs::create_directories(folder_ / path);
        return;
      case AE_IFREG:
        return put_file(path, archive_entry_size(entry));
      case AE_IFLNK:
        return note_link(path,
                         text(archive_entry_symlink(entry), archive_entry_symlink_utf8(entry)));
      default:
        refuse(path.string(), "is neither a file nor a folder nor a link");
    }
  }

  // A later file of the same name takes the place of the former, as tar has it.
  void put_file(const fs::path& path, std::int64_t size) {
    const auto full = (folder_ / path).string();
    ::unlink(full.c_str());
    const int file =
        ::open(full.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (file < 0) fail_writing(full);
    const std::unique_ptr<const int, void (*)(const int*)> end(&file,
                                                               [](const int* f) { ::close(*f); });
    check_bytes(size);
    bytes_ += write_blocks(file, full);
  }

  /// Holes of a sparse file stay holes, and count. Returns the file's size.
  std::int64_t write_blocks(int file, const std::string& full) {
    std::int64_t end = 0;
    while (true) {
      const void* bytes = nullptr;
      std::size_t size = 0;
      la_int64_t offset = 0;
      const int result = archive_read_data_block(reader_.get(), &bytes, &size, &offset);
      if (result != ARCHIVE_OK && result != ARCHIVE_EOF) fail_reading();
      end = std::max<std::int64_t>(end, offset + static_cast<std::int64_t>(size));
      check_bytes(end);
      if (result == ARCHIVE_EOF) break;
      write_at(file, {static_cast<const char*>(bytes), size}, offset, full);
    }
    if (::ftruncate(file, end) != 0) fail_writing(full);
    return end;
  }

  void write_at(int file, std::string_view bytes, la_int64_t offset, const std::string& full) {
    while (!bytes.empty()) {
      const auto written = ::pwrite(file, bytes.data(), bytes.size(), offset);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail_writing(full);
      bytes.remove_prefix(static_cast<std::size_t>(written));
      offset += written;
    }
  }

  /// Links are made last: until then nothing can be written or linked through them.
  void note_link(const fs::path& path, const std::string& target) {
    if (fs::exists(fs::symlink_status(folder_ / path)))
      refuse(path.string(), "is there twice, once as a link");
    links_.emplace(path, target);
  }

  /// What becomes the data's root, relative to the folder: the only folder at the top, or all.
  fs::path contents() const {
    fs::path only;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (!only.empty() || !entry.is_directory()) return {};
      only = entry.path().filename();
    }
    for (const auto& [path, target] : links_)
      if (!path.has_parent_path()) return {};
    return only;
  }

  // Only leading `..` and not above the root: what follows cannot climb through another link.
  void make_link(const fs::path& path, const std::string& target, const fs::path& root) {
    const fs::path to = target;
    auto place = path.parent_path();
    if (!root.empty()) place = place.lexically_relative(root);
    if (place == ".") place.clear();
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
  }

  void put_hard_link(const fs::path& path, const std::string& target) {
    const auto to = safe_path(target);
    if (links_.contains(to)) refuse(path.string(), "is a link to a link");
    ::unlink((folder_ / path).c_str());
    fs::create_hard_link(folder_ / to, folder_ / path);
  }

  /// The path of an entry within the folder.
  fs::path safe_path(const std::string& name) const {
    const fs::path path = name;
    if (name.empty() || name.find('\0') != std::string::npos)
      refuse(name,
             names_.ok() ? "has no name" : "has a name in UTF-8, and there is no such locale");
    if (path.is_absolute()) refuse(name, "has an absolute path");
    fs::path safe;
    int depth = 0;
    for (const auto& part : path) {
      if (part == "..") refuse(name, "leaves the folder");
      if (part == "." || part.empty()) continue;
      if (links_.contains(safe)) refuse(name, "goes through a link");
      if (++depth > limits_.depth)
        refuse(name.substr(0, 80) + "...",
               fmt::format("lies in more than {} folders", limits_.depth));
      safe /= part;
    }
    return safe;
  }

  void show_progress() {
    const auto share = static_cast<double>(archive_filter_bytes(reader_.get(), -1)) / size_;
    const int percent = static_cast<int>(100 * share);
    if (percent == shown_) return;
    shown_ = percent;
    log::status(fmt::format("unpacking {}: {} %", fs::path(name_).filename().string(), percent));
  }

  static std::string text(const char* first, const char* second) {
    if (first) return first;
    return second ? second : "";
  }

  [[noreturn]] void refuse(const std::string& entry, const std::string& what) const {
    throw Error(Exit::data, "archive '{}' is refused: '{}' {}", name_, entry, what);
  }

  [[noreturn]] void refuse_all(const std::string& what) const {
    throw Error(Exit::data, "archive '{}' is refused: it {}; unpack it yourself if you trust it",
                name_, what);
  }

  [[noreturn]] void fail_reading() const {
    const char* what = archive_error_string(reader_.get());
    throw Error(Exit::data, "cannot unpack '{}': {}", name_, what ? what : "not an archive");
  }

  [[noreturn]] void fail_writing(const std::string& path) const {
    throw Error(Exit::data, "cannot write '{}': {}", path, std::strerror(errno));
  }

  static constexpr std::int64_t header_bytes = 2048;  // of a member, in addition to its content

  Utf8Names names_;
  std::string name_;
  fs::path folder_;
  UnpackLimits limits_;
  std::function<bool(std::string_view)> wanted_;
  InputFile file_;
  std::unique_ptr<archive, int (*)(archive*)> reader_;
  std::map<fs::path, std::string> links_;
  double size_ = 0;
  int shown_ = -1;
  std::int64_t members_ = 0, bytes_ = 0;
};

UnpackLimits limits_of(const std::string& archive) {
  std::error_code unknown;
  const auto size = fs::file_size(archive, unknown);
  return UnpackLimits::of_archive(unknown ? 0 : static_cast<std::int64_t>(size));
}

std::string unpacked(const std::string& archive, const std::string& folder,
                     const UnpackLimits& limits,
                     const std::function<bool(std::string_view)>& wanted) {
  try {
    return Unpacking(archive, folder, limits, wanted).run().string();
  } catch (const fs::filesystem_error& error) {
    throw Error(Exit::data, "cannot unpack '{}': '{}': {}", archive, error.path1().string(),
                error.code().message());
  }
}

}  // namespace

std::string unpack(const std::string& archive, const std::string& folder) {
  return unpack(archive, folder, limits_of(archive));
}

std::string unpack(const std::string& archive, const std::string& folder,
                   const UnpackLimits& limits) {
  return unpacked(archive, folder, limits, {});
}

std::string unpack(const std::string& archive, const std::string& folder,
                   const std::function<bool(std::string_view)>& wanted) {
  return unpacked(archive, folder, limits_of(archive), wanted);
}

}  // namespace ddptrain
