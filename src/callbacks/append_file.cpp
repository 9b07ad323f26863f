#include "callbacks/append_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace ddptrain {
namespace {

[[noreturn]] void append_failed(const std::string& path) {
  throw Error(Exit::data, "cannot write '{}': {}", path, std::strerror(errno));
}

}  // namespace

AppendFile::AppendFile(const std::string& path)
    : path_(path), file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666)) {
  if (file_ < 0) append_failed(path_);
}

AppendFile::~AppendFile() { ::close(file_); }

void AppendFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) append_failed(path_);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace ddptrain
