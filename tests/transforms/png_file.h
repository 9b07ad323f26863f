// PNG files made byte by byte, so that they may claim what they do not hold.
#pragma once

#include <zlib.h>

#include <string>
#include <string_view>

#include "images.h"

namespace ddptrain::test {

inline std::string big_endian(std::size_t value) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift & 255);
  return text;
}

inline std::string png_chunk(std::string_view type, const std::string& data) {
  const auto body = std::string(type) + data;
  const auto sum =
      crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
  return big_endian(data.size()) + body + big_endian(sum);
}

inline std::string deflated(const std::string& text) {
  std::string packed(compressBound(text.size()), '\0');
  uLongf size = packed.size();
  compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
            reinterpret_cast<const Bytef*>(text.data()), text.size(), 9);
  packed.resize(size);
  return packed;
}

struct PngHeader {
  int width = 1, height = 1;
  char depth = 8, type = 2, interlaced = 0;
};

/// `before` are chunks ahead of the image's data.
inline Bytes png_file(const PngHeader& header, const std::string& data,
                      const std::string& before = "") {
  const auto head = big_endian(static_cast<std::size_t>(header.width)) +
                    big_endian(static_cast<std::size_t>(header.height)) + header.depth +
                    header.type + std::string(2, '\0') + header.interlaced;
  const auto file = "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", head) + before +
                    png_chunk("IDAT", data) + png_chunk("IEND", "");
  return {file.begin(), file.end()};
}

}  // namespace ddptrain::test
