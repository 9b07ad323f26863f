#include "input_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace ddptrain::fuzz {

InputFile::InputFile(std::string_view content)
    : file_(::memfd_create("input", MFD_CLOEXEC)), path_("/proc/self/fd/" + std::to_string(file_)) {
  const auto written = ::write(file_, content.data(), content.size());
  claim(written == static_cast<ssize_t>(content.size()), "a file in memory takes the input");
}

InputFile::~InputFile() { ::close(file_); }

std::string_view text_of(const unsigned char* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

void claim(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what.c_str());
  std::abort();
}

}  // namespace ddptrain::fuzz
