// PNG of any size, its sums put right: what a few bytes may cost (scripts/fuzz gives a bound of
// memory and of time).
#include <zlib.h>

#include <vector>

#include "whole_image.h"

namespace {

void put_sums_right(std::vector<unsigned char>& file) {
  for (std::size_t at = 8; at + 12 <= file.size();) {
    const std::size_t length =
        std::size_t(file[at]) << 24 | file[at + 1] << 16 | file[at + 2] << 8 | file[at + 3];
    if (length > file.size() - at - 12) return;
    const auto sum = crc32(0, &file[at + 4], static_cast<uInt>(length + 4));
    for (int i = 0; i < 4; ++i)
      file[at + 8 + length + i] = static_cast<unsigned char>(sum >> (24 - 8 * i));
    at += length + 12;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size < 8 || data[0] != 0x89) return 0;
  std::vector<unsigned char> file(data, data + size);
  put_sums_right(file);
  ddptrain::fuzz::read_image(file);
  return 0;
}
