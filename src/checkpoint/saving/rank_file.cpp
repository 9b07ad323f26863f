#include "checkpoint/saving/rank_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "base/error.h"

namespace ddptrain {
namespace {

using namespace std::chrono_literals;

[[noreturn]] void refuse_to_write(const std::string& path, int reason) {
  std::string why = std::strerror(reason);
  why[0] = static_cast<char>(std::tolower(why[0]));
  throw Error(Exit::data, "cannot write '{}': {}", path, why);
}

[[noreturn]] void refuse_unseen(const std::string& path) {
  throw Error(Exit::data,
              "cannot write '{}': its folder, which rank 0 made, is not here: all ranks must see "
              "the same 'output.dir'",
              path);
}

void write_at(int file, const std::string& path, std::int64_t at, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = std::min<std::size_t>(bytes.size(), 1 << 30);
    const auto written = ::pwrite(file, bytes.data(), count, at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse_to_write(path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    at += written;
  }
}

void close_flushed(int& file, const std::string& path) {
  if (::fsync(file) != 0) refuse_to_write(path, errno);
  if (::close(std::exchange(file, -1)) != 0) refuse_to_write(path, errno);
}

/// A client of NFS may know a folder that another one has just made as missing (ENOENT) or as what
/// was there before (ESTALE) until its attributes are read again: acregmin and acdirmin of nfs(5).
int open_new(const std::string& path) {
  constexpr auto longest = 5s;
  const auto began = std::chrono::steady_clock::now();
  for (auto wait = 20ms;; wait *= 2) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file >= 0 || (errno != ENOENT && errno != ESTALE)) return file;
    if (std::chrono::steady_clock::now() - began > longest) return -1;
    std::this_thread::sleep_for(wait);
  }
}

}  // namespace

SharedFiles::~SharedFiles() {
  for (const auto& [name, file] : open_)
    if (file >= 0) ::close(file);
}

void SharedFiles::write(const std::string& name, std::int64_t at, std::string_view bytes) {
  const auto path = folder_ + "/" + name;
  auto found = open_.find(name);
  if (found == open_.end()) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0 && errno == ENOENT) refuse_unseen(path);
    if (file < 0) refuse_to_write(path, errno);
    found = open_.emplace(name, file).first;
  }
  write_at(found->second, path, at, bytes);
}

void SharedFiles::flush() {
  for (auto& [name, file] : open_) close_flushed(file, folder_ + "/" + name);
  open_.clear();
}

RankFile::RankFile(const std::string& folder, std::int64_t rank, std::int64_t ranks)
    : path_(folder + "/" + rank_file_name(rank, ranks)), rank_(rank) {}

RankFile::~RankFile() {
  if (file_ >= 0) ::close(file_);
}

void RankFile::write(const std::string& name, std::int64_t at, std::string_view bytes) {
  if (bytes.empty()) return;
  if (size_ == 0 && file_ < 0) file_ = open_new(path_);
  if (file_ < 0 && errno == ENOENT) refuse_unseen(path_);
  if (file_ < 0) refuse_to_write(path_, errno);
  const auto count = static_cast<std::int64_t>(bytes.size());
  auto& ranges = ranges_[name];
  const bool goes_on =
      last_ == &ranges && !ranges.empty() && ranges.back().first + ranges.back().count == at;
  if (!goes_on) {
    size_ += (at - size_ % kPageOfRanks + kPageOfRanks) % kPageOfRanks;
    ranges.push_back({at, 0, rank_, size_});
  }
  write_at(file_, path_, size_, bytes);
  ranges.back().count += count;
  size_ += count;
  last_ = &ranges;
}

void RankFile::flush() {
  if (file_ >= 0) close_flushed(file_, path_);
}

}  // namespace ddptrain
