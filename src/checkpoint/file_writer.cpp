#include "checkpoint/file_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace ddptrain {

FileWriter::FileWriter(const std::string& path)
    : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)) {
  if (file_ < 0) fail();
}

FileWriter::~FileWriter() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(path_.c_str());
}

void FileWriter::fail() const {
  std::string reason = std::strerror(errno);
  reason[0] = static_cast<char>(std::tolower(reason[0]));
  throw Error(Exit::data, "cannot write '{}': {}", path_, reason);
}

void FileWriter::write(std::string_view bytes) {
  size_ += static_cast<std::int64_t>(bytes.size());
  digest_.add(bytes);
  while (!bytes.empty()) {
    const auto written = ::write(file_, bytes.data(), std::min<std::size_t>(bytes.size(), 1 << 30));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

WrittenFile FileWriter::finish() {
  if (::fsync(file_) != 0) fail();
  const int file = std::exchange(file_, -1);
  if (::close(file) != 0) {
    const int reason = errno;
    ::unlink(path_.c_str());
    errno = reason;
    fail();
  }
  return {size_, digest_.finish()};
}

WrittenFile write_file(const std::string& path, std::string_view text) {
  FileWriter writer(path);
  writer.write(text);
  return writer.finish();
}

}  // namespace ddptrain
