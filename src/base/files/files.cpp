#include "base/files/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/text.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& what, const std::string& path) {
  std::string reason = std::strerror(errno);
  if (!reason.empty()) reason[0] = static_cast<char>(std::tolower(reason[0]));
  throw Error(Exit::data, "cannot {} '{}': {}", what, path, reason);
}

/// An open file that closes itself.
class Open {
 public:
  explicit Open(int file) : file_(file) {}
  ~Open() {
    if (file_ >= 0) ::close(file_);
  }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
  int get() const { return file_; }
  bool ok() const { return file_ >= 0; }

 private:
  int file_;
};

std::string parent_of(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : "something else";
}

std::size_t next_bytes(int file, char* to, std::size_t count, const std::string& path) {
  ssize_t got = 0;
  do {
    got = ::read(file, to, count);
  } while (got < 0 && errno == EINTR);
  if (got < 0) fail("read", path);
  return static_cast<std::size_t>(got);
}

std::string first_bytes_of(int file, std::size_t most, const std::string& path) {
  std::string content;
  char buffer[1 << 16];
  while (content.size() < most) {
    const auto got = next_bytes(file, buffer, std::min(sizeof buffer, most - content.size()), path);
    if (got == 0) break;
    content.append(buffer, got);
  }
  return content;
}

std::string first_bytes_of(const InputFile& file, std::size_t most) {
  return first_bytes_of(file.descriptor(), most, file.path());
}

/// Whether the file was removed after it was opened.
bool is_removed(int file) {
  struct stat about {};
  return ::fstat(file, &about) == 0 && about.st_nlink == 0;
}

bool write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const auto written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

InputFile::InputFile(const std::string& path)
    : path_(path),
      // Without O_NONBLOCK this blocks on a pipe without a writer.
      file_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
  struct stat about {};
  const bool known = (file_ >= 0 ? ::fstat(file_, &about) : ::stat(path.c_str(), &about)) == 0;
  const int reason = errno;
  const bool regular = known && S_ISREG(about.st_mode);
  size_ = static_cast<std::uint64_t>(about.st_size);
  if (file_ >= 0 && regular) return;
  if (file_ >= 0) ::close(file_);
  if (known && !regular)
    throw Error(Exit::data, "cannot read '{}': it is {}, not a regular file", path,
                kind_of(about.st_mode));
  errno = reason;
  fail("read", path);
}

InputFile::~InputFile() {
  if (file_ >= 0) ::close(file_);
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)), size_(other.size_) {}

void InputFile::read(char* to, std::uint64_t count, std::uint64_t offset) const {
  constexpr std::uint64_t most = 1 << 30;
  while (count > 0) {
    const auto got = ::pread(file_, to, std::min(count, most), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path_);
    if (got == 0) throw Error(Exit::data, "cannot read '{}': it became shorter", path_);
    to += got;
    offset += static_cast<std::uint64_t>(got);
    count -= static_cast<std::uint64_t>(got);
  }
}

std::size_t InputFile::read_next(char* to, std::size_t count) {
  return next_bytes(file_, to, count, path_);
}

std::string read_text(const std::string& path, std::size_t most) {
  const InputFile file(path);
  // What the kernel makes up claims no size.
  auto content = file.size() > most ? std::string() : first_bytes_of(file, most + 1);
  if (file.size() <= most && content.size() <= most) return content;
  throw Error(Exit::data, "cannot read '{}': it has more than {}", path,
              format_bytes(static_cast<std::int64_t>(most)));
}

std::string read_beginning(const std::string& path, std::size_t most) {
  return first_bytes_of(InputFile(path), most);
}

std::string read_given(const std::string& path, std::size_t most) {
  const Open file(::open(path.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC));
  if (!file.ok()) fail("read", path);
  return first_bytes_of(file.get(), most, path);
}

void write_atomically(const std::string& path, std::string_view content) {
  const auto temporary = temporary_name(path);
  const auto give_up = [&](bool made) {
    const int reason = errno;
    if (made) ::unlink(temporary.c_str());
    errno = reason;
    fail("write", path);
  };
  {
    constexpr int exclusive = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const Open file(::open(temporary.c_str(), exclusive, 0666));
    if (!file.ok()) give_up(false);
    if (!write_all(file.get(), content) || ::fsync(file.get()) != 0) give_up(true);
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) give_up(true);
  sync_folder(parent_of(path));
}

void make_folders(const std::string& path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) {
    errno = code.value();
    fail("make the folder", path);
  }
}

bool is_writable(const std::string& folder) {
  std::error_code code;
  const auto at = existing_folder(folder);
  return std::filesystem::is_directory(at, code) && ::access(at.c_str(), W_OK | X_OK) == 0;
}

void sync_folder(const std::string& folder) {
  const Open file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file.ok()) fail("open the folder", folder);
  // Some network file systems refuse to flush a folder (EINVAL); renames are durable there anyway.
  if (::fsync(file.get()) != 0 && errno != EINVAL) fail("flush the folder", folder);
}

void sync_disk(const std::string& folder) {
  const Open file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file.ok()) fail("open the folder", folder);
  if (::syncfs(file.get()) != 0) fail("flush the disk of", folder);
}

FileLock::FileLock(const std::string& path, Wait wait) {
  const int how = LOCK_EX | (wait == Wait::not_at_all ? LOCK_NB : 0);
  do {
    if (file_ >= 0) ::close(file_);
    file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file_ < 0) fail("lock", path);
    int result = 0;
    do {
      result = ::flock(file_, how);
    } while (result != 0 && errno == EINTR);
    held_ = result == 0;
  } while (held_ && is_removed(file_));  // another process waits at the new file
  if (held_ || errno == EWOULDBLOCK) return;
  const int reason = errno;
  ::close(file_);
  errno = reason;
  fail("lock", path);
}

FileLock::~FileLock() { ::close(file_); }

bool FileLock::is_taken(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return false;
  // Shared: two that ask at once do not take each other for a holder.
  const bool taken = ::flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);
  return taken;
}

std::string existing_folder(const std::string& folder) {
  std::error_code code;
  auto there = fs::absolute(folder, code);
  while (!fs::exists(there, code) && there.has_relative_path()) there = there.parent_path();
  return there.string();
}

FreeSpace free_space(const std::string& folder) {
  FreeSpace found{existing_folder(folder), 0, ""};
  std::error_code code;
  const auto space = fs::space(found.folder, code);
  if (code)
    found.unknown = code.message();
  else
    found.bytes = static_cast<std::int64_t>(space.available);
  return found;
}

}  // namespace ddptrain
