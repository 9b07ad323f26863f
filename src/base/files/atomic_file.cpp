#include "base/files/atomic_file.h"

#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

/// The permissions that a plain file would get.
mode_t usual_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

std::error_code last_error() { return {errno, std::generic_category()}; }

std::error_code move_into_place(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return {};
  const auto error = last_error();
  ::unlink(from.c_str());
  return error;
}

}  // namespace

AtomicFile::AtomicFile(std::string path, Readers readers)
    : path_(std::move(path)), temporary_(path_ + ".XXXXXX") {
  if (std::filesystem::is_directory(path_)) {
    errno = EISDIR;
    fail();
  }
  file_ = ::mkstemp(temporary_.data());
  if (file_ < 0) fail();
  if (readers == Readers::usual) ::fchmod(file_, usual_mode());  // else what mkstemp gives: 0600
}

AtomicFile::~AtomicFile() {
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  if (::fsync(file_) != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0) fail();
  temporary_.clear();
  const auto parent = std::filesystem::path(path_).parent_path().string();
  sync_folder(parent.empty() ? "." : parent);
}

void AtomicFile::fail() const {
  throw Error(Exit::data, "cannot write '{}': {}", path_, std::strerror(errno));
}

std::string temporary_name(const std::string& path) {
  std::uint64_t bits = 0;
  DDP_CHECK(::getrandom(&bits, sizeof bits, 0) == sizeof bits, "the kernel gives random bits");
  char text[32];
  std::snprintf(text, sizeof text, ".tmp%016llx", static_cast<unsigned long long>(bits));
  return path + text;
}

std::error_code replace_link(const std::string& link, const std::string& target) {
  const fs::path place(link);
  const auto hidden = (place.parent_path() / (".tmp-" + place.filename().string())).string();
  while (true) {
    const auto temporary = temporary_name(hidden);
    if (::symlink(target.c_str(), temporary.c_str()) == 0) return move_into_place(temporary, link);
    if (errno != EEXIST) return last_error();
  }
}

}  // namespace ddptrain
